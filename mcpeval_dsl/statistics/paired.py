"""Statistics of two conditions on the same tasks: the difference, its interval and how likely chance alone gives it."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from mcpeval_dsl.statistics.clusters import standard_error
from mcpeval_dsl.statistics.distributions import mean, t_quantile, t_two_sided
from mcpeval_dsl.statistics.intervals import Estimate, Interval

_EXACT_CLUSTERS = 20
_FLIPS = 9_999
_CELLS = 4_000_000
_ROUNDING = 1e-9
"""Sums of rates that are equal differ by less, and others by more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`treatment − baseline` in task means. `interval` is Student's t at T − 1."""

    value: float
    error: float
    interval: Interval
    t: float
    p: float


def paired_difference(treatment: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Difference:
    """SE = √(Σ(d−d̄)²/(T(T−1))) (Miller 2024 §4.2). Needs two tasks."""
    differences = [a - b for a, b in zip(treatment, baseline, strict=True)]
    value, error, df = mean(differences), standard_error(differences), len(differences) - 1
    half = t_quantile(0.5 + confidence / 2, df) * error
    t = value / error if error > 0 else math.copysign(math.inf, value) if value else 0.0
    return Difference(value, error, Interval(value - half, value + half), t, t_two_sided(t, df))


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's r; 0 where one side does not vary."""
    a, b = mean(left), mean(right)
    covariance = math.fsum((x - a) * (y - b) for x, y in zip(left, right, strict=True))
    scale = math.sqrt(math.fsum((x - a) ** 2 for x in left) * math.fsum((y - b) ** 2 for y in right))
    return max(-1.0, min(1.0, covariance / scale)) if scale > 0 else 0.0


def mover(treatment: Estimate, baseline: Estimate, r: float) -> Interval | None:
    """Interval of the difference from the two single intervals and their correlation (MOVER, Zou and Donner 2008)."""
    if treatment.interval is None or baseline.interval is None:
        return None
    value = treatment.value - baseline.value
    down_a, up_a = treatment.value - treatment.interval.low, treatment.interval.high - treatment.value
    down_b, up_b = baseline.value - baseline.interval.low, baseline.interval.high - baseline.value
    low = value - math.sqrt(max(0.0, down_a**2 + up_b**2 - 2 * r * down_a * up_b))
    high = value + math.sqrt(max(0.0, up_a**2 + down_b**2 - 2 * r * up_a * down_b))
    return Interval(max(-1.0, low), min(1.0, high))


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided p of the sum of cluster differences under random signs: exact for ≤ 20 of them, else (b+1)/(m+1).

    Differences of 0 do not matter and are left out. `seed` makes the sampled one repeatable.
    """
    moving = [d for d in differences if d != 0]
    observed = abs(math.fsum(moving)) - 1e-12
    if not moving:
        return 1.0
    if len(moving) <= _EXACT_CLUSTERS:
        return _exact_flips(moving, observed)
    return _sampled_flips(moving, observed, seed)


def _sampled_flips(moving: Sequence[float], observed: float, seed: int) -> float:
    """Eight signs are one random byte, and what they add up to is looked up."""
    import numpy as np

    source, hits, left = np.random.default_rng(seed), 0, _FLIPS
    width = -(-len(moving) // 8)
    values = np.zeros(8 * width)
    values[: len(moving)] = moving
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    sums_of = (values.reshape(width, 8) @ signs.T).ravel()
    at = 256 * np.arange(width)
    portion = max(1, _CELLS // width)
    while left > 0:
        drawn = min(portion, left)
        flips = np.frombuffer(source.bytes(drawn * width), dtype=np.uint8).reshape(drawn, width)
        hits += int((abs(sums_of[flips + at].sum(axis=1)) >= observed - _ROUNDING).sum())
        left -= drawn
    return (hits + 1) / (_FLIPS + 1)


def _exact_flips(moving: Sequence[float], observed: float) -> float:
    """The first sign is fixed, as every pattern has a mirror image; sums of halves keep it at 2^(n/2) memory."""
    half = len(moving) // 2
    left, right = _sums(moving[:half]), sorted(_sums(moving[half:]))

    hits: int = sum(len(right) - bisect_left(right, observed - s) + bisect_right(right, -observed - s) for s in left)
    return min(1.0, float(hits) / float(2 ** len(moving)))


def _sums(values: Sequence[float]) -> list[float]:
    return [math.fsum(signed) for signed in itertools.product(*((d, -d) for d in values))]


def smallest_p(clusters: int) -> float:
    """No sign-flip test over this many clusters can give a smaller p (5: .0625)."""
    return min(1.0, 0.5 ** (clusters - 1))
