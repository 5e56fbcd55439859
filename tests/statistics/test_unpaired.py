"""The permutation test of two groups against a library's, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test

from mcpeval_dsl.statistics.unpaired import permutation


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_scipy(seed: int) -> None:
    source = np.random.default_rng(seed)
    one, other = source.normal(0.4, 1, 6).tolist(), source.normal(0, 1, 5).tolist()

    def means(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    expected = permutation_test((one, other), means, n_resamples=np.inf, vectorized=True).pvalue
    # scipy doubles the smaller tail, which for groups of two sizes is not quite the sum of both tails
    assert permutation(one, other) == pytest.approx(expected, abs=0.03)


def test_equal_groups_and_extreme_ones() -> None:
    assert permutation([0.2, 0.4], [0.2, 0.4]) == 1.0
    assert permutation([1.0] * 4, [0.0] * 4) == pytest.approx(2 / 70)
    assert permutation([], [1.0]) is None


def test_drawn_deals_are_repeatable_and_near_the_nominal_level() -> None:
    source = np.random.default_rng(1)
    one, other = source.normal(0, 1, 12).tolist(), source.normal(0, 1, 12).tolist()
    assert permutation(one, other, seed=3) == permutation(one, other, seed=3)
    small = sum(
        (permutation(source.normal(0, 1, 5).tolist(), source.normal(0, 1, 5).tolist()) or 1.0) <= 0.05
        for _ in range(400)
    )
    assert small <= 400 * 0.05 + 3 * (400 * 0.05 * 0.95) ** 0.5
