from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.statistics.agreement import Agreement, agreement, kappa_interval
from mcpeval_dsl.statistics.bootstrap import _weighted_medians, median_overhead
from mcpeval_dsl.statistics.intervals import Estimate, wilson
from mcpeval_dsl.statistics.multiplicity import benjamini_hochberg, benjamini_yekutieli
from mcpeval_dsl.statistics.paired import _sampled_flips, mover, paired_difference, sign_flip
from mcpeval_dsl.statistics.power import detectable_effect, detectable_from_error, tasks_needed
from mcpeval_dsl.statistics.proportions import mcnemar_exact, mcnemar_mid, newcombe

ratings = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)
counts = st.integers(0, 9)


@given(counts, counts)
def test_mcnemar_is_the_sign_flip_over_tasks_of_one_trial(gained: int, lost: int) -> None:
    differences = [1.0] * gained + [-1.0] * lost
    assert mcnemar_exact(gained, lost) == pytest.approx(sign_flip(differences))
    assert mcnemar_mid(gained, lost) <= mcnemar_exact(gained, lost) + 1e-12


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_newcombe_is_mover_without_correlation(a: int, m: int, b: int, n: int) -> None:
    one, other = (min(a, m), m), (min(b, n), n)
    sides = [Estimate(p / k, k, k, k, interval=wilson(p / k, k)) for p, k in (one, other)]
    found, expected = newcombe(one, other), mover(sides[0], sides[1], 0.0)
    assert expected is not None
    assert (max(-1.0, found.low), min(1.0, found.high)) == pytest.approx((expected.low, expected.high))


@given(ratings)
def test_kappa_does_not_care_who_is_the_judge(pairs: list[tuple[int, int]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    found, swapped = agreement(one, other), agreement(other, one)
    assert (found.kappa, found.share) == (swapped.kappa, swapped.share)
    assert found.kappa is None or -1 <= found.kappa <= 1


@given(ratings)
def test_the_interval_of_kappa_stays_in_range_and_holds_a_middling_kappa(pairs: list[tuple[int, int]]) -> None:
    table = agreement([a for a, _ in pairs], [b for _, b in pairs])
    found = kappa_interval(table)
    assert found is not None
    assert -1 <= found.low < found.high <= 1
    if table.items >= 20 and table.kappa is not None and 0.2 < table.kappa < 0.8:
        assert found.low < table.kappa < found.high


def test_judges_that_always_agree_are_not_certain_to() -> None:
    found = kappa_interval(Agreement(15, 0, 0, 15))
    assert found is not None
    assert found.high == 1.0
    assert 0.7 < found.low < 0.95


def test_nobody_rated_anything() -> None:
    assert kappa_interval(Agreement(0, 0, 0, 0)) is None
    assert Agreement(0, 0, 0, 0).kappa is None


def test_a_judge_that_always_says_yes_has_no_kappa_where_all_is_yes() -> None:
    table = Agreement(9, 0, 0, 0)
    assert (table.kappa, table.share, table.sensitivity, table.specificity) == (None, 1.0, 1.0, None)


def test_half_a_yes_is_no_rating() -> None:
    with pytest.raises(ValueError, match="0 or 1"):
        agreement([0.5], [1])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12), st.data())
def test_weighted_medians_are_the_medians_of_the_resamples(values: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any))
    repeated = np.repeat(values, weights)
    (found,) = _weighted_medians(np.array(values), np.array([weights], dtype=np.int16).T)
    assert found == pytest.approx(float(np.median(repeated)), abs=1e-9)


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), min_size=6, max_size=20), st.floats(-5, 5))
def test_an_overhead_moves_with_the_treatment(pairs: list[tuple[float, float]], more: float) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    value, interval = median_overhead(one, other)
    moved, shifted = median_overhead([a + more for a in one], other)
    assert interval is not None and shifted is not None
    assert interval.low <= value <= interval.high
    assert (moved, shifted.low) == pytest.approx((value + more, interval.low + more), abs=1e-9)


def test_an_overhead_of_few_clusters_has_no_interval() -> None:
    values = [float(i) for i in range(20)]
    assert median_overhead(values, values[::-1], clusters=[i % 5 for i in range(20)])[1] is None
    assert median_overhead(values[:5], values[5:10])[1] is None


def test_tasks_that_stand_and_fall_together_say_less() -> None:
    source = np.random.default_rng(4)
    level = np.repeat(source.normal(0, 1, 8), 6)
    one, other = level + source.normal(0.5, 0.1, 48), np.zeros(48) + source.normal(0, 0.1, 48)
    alone = median_overhead(list(one), list(other))[1]
    together = median_overhead(list(one), list(other), clusters=[i // 6 for i in range(48)])[1]
    assert alone is not None and together is not None
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


@pytest.mark.parametrize("clusters", [None, [1, 2]])
def test_an_overhead_needs_pairs(clusters: list[int] | None) -> None:
    with pytest.raises(ValueError):
        median_overhead([1.0, 2.0, 3.0], [1.0, 2.0] if clusters is None else [1.0, 2.0, 3.0], clusters)


def test_sampled_and_exact_sign_flips_agree() -> None:
    differences = [0.2, -0.1, 0.4, 0.3, -0.2, 0.5, 0.1, 0.1, 0.25, -0.05, 0.3, 0.15]
    exact = sign_flip(differences)
    assert _sampled_flips(differences, abs(math.fsum(differences)) - 1e-12, 1) == pytest.approx(exact, abs=0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_any_dependence_costs_more(p_values: list[float]) -> None:
    pairs = zip(benjamini_yekutieli(p_values), benjamini_hochberg(p_values), strict=True)
    assert all(careful >= usual - 1e-12 for careful, usual in pairs)


@given(st.floats(0.01, 0.5), st.floats(0.01, 0.3), st.floats(0, 0.25), st.integers(1, 10))
def test_the_number_of_tasks_and_the_effect_answer_each_other(
    effect: float, between: float, within: float, trials: int
) -> None:
    tasks = tasks_needed(effect, between, (within, within), (trials, trials))
    back = detectable_effect(max(1, round(tasks)), between, (within, within), (trials, trials))
    if tasks > 20:
        assert back == pytest.approx(effect, rel=0.05)
    error = math.sqrt((between + 2 * within / trials) / max(1, round(tasks)))
    assert detectable_from_error(error) == pytest.approx(back)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_swapping_the_sides_turns_the_difference_round(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = paired_difference(one, other), paired_difference(other, one)
    assert there.value == pytest.approx(-back.value, abs=1e-12)
    assert (there.interval.low, there.p) == pytest.approx((-back.interval.high, back.p), abs=1e-9)
