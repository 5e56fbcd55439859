"""Statistics: intervals of a share. Bounds lie in [0, 1]; `confidence` is two-sided unless said otherwise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from mcpeval_dsl.statistics.clusters import clustered_error
from mcpeval_dsl.statistics.distributions import beta_quantile, mean, normal_quantile, t_quantile


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over tasks. `error` is clustered; None where one cluster gives no interval."""

    value: float
    tasks: int
    trials: int
    clusters: int
    error: float | None = None
    effective_n: float | None = None
    interval: Interval | None = None


def clip(interval: Interval) -> Interval:
    return Interval(min(1.0, max(0.0, interval.low)), min(1.0, max(0.0, interval.high)))


def wilson(share: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's score interval (1927) for a share of n independent trials."""
    return wilson_with(share, n, normal_quantile(0.5 + confidence / 2))


def wilson_with(share: float, n: float, quantile: float) -> Interval:
    square = quantile * quantile
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low = 0.0 if share == 0 else centre - half
    high = 1.0 if share == 1 else centre + half
    return clip(Interval(low, high))


def estimate(
    task_rates: Sequence[float], clusters: Sequence[Hashable], trials: int, confidence: float = 0.95
) -> Estimate | None:
    """The default: mean over tasks with Wilson's interval at the effective n and t in place of z; None without tasks.

    n_eff = p(1−p)/SE² clipped to [1, trials], C when SE = 0; t at C − 1 (Korn and Graubard 1998, Franco et al. 2019;
    coverage 91–99 % at nominal 95 %). `trials` counts the testable trials behind the rates.
    """
    if not task_rates:
        return None
    value, count = mean(task_rates), len(set(clusters))
    value = min(1.0, max(0.0, value))
    error = clustered_error(task_rates, clusters)
    if error is None:
        return Estimate(value, len(task_rates), trials, count)
    effective = float(count) if error < 1e-12 else min(float(trials), max(1.0, value * (1 - value) / error**2))
    interval = wilson_with(value, effective, t_quantile(0.5 + confidence / 2, count - 1))
    return Estimate(value, len(task_rates), trials, count, error, effective, interval)


def clopper_pearson(passed: float, n: float, confidence: float = 0.95) -> Interval:
    """Exact binomial interval (1934): never covers less than it says; for the trials of one task alone."""
    tail = (1 - confidence) / 2
    low = 0.0 if passed == 0 else beta_quantile(tail, passed, n - passed + 1)
    high = 1.0 if passed == n else beta_quantile(1 - tail, passed + 1, n - passed)
    return Interval(low, high)


def beta_interval(passed: float, n: float, confidence: float = 0.95, prior: tuple[float, float] = (1, 1)) -> Interval:
    """Equal-tailed credible interval; Beta(1, 1) by default (Bowyer et al. 2025), (½, ½) is Jeffreys'."""
    tail, (a, b) = (1 - confidence) / 2, prior
    return Interval(
        beta_quantile(tail, passed + a, n - passed + b), beta_quantile(1 - tail, passed + a, n - passed + b)
    )


def upper_bound(seen: int, n: int, confidence: float = 0.95) -> float | None:
    """One-sided exact upper bound of a share seen `seen` times in n; 1 − (1−confidence)^(1/n) for none; None for n = 0."""
    if n == 0:
        return None
    if seen == 0:
        return -math.expm1(math.log1p(-confidence) / n)
    return 1.0 if seen == n else beta_quantile(confidence, seen + 1, n - seen)


def missing_bounds(passed: int, untestable: int, planned: int) -> Interval | None:
    """The rate if every untestable trial had failed, and if every one had passed; None when nothing was planned."""
    if planned == 0:
        return None
    return Interval(passed / planned, (passed + untestable) / planned)
