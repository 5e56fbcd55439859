"""Statistics before a run: how many tasks an effect needs, and which effect a number of tasks can show.

Miller 2024 (arXiv:2411.00640) §5: n = (z_{α/2} + z_β)² (ω² + σ_A²/K_A + σ_B²/K_B)/δ², with ω² the variance between tasks of
the difference and σ² the variance within a task of one trial.
"""

from __future__ import annotations

import math

from mcpeval_dsl.statistics.distributions import normal_quantile

PLANNING_BETWEEN, PLANNING_WITHIN = 1 / 9, 1 / 6
"""Variances to plan with before anything was measured (Miller 2024 §5): of the tasks' differences, and of one trial within
a task when the tasks' chances spread evenly over [0, 1]."""


def tasks_needed(
    effect: float,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    trials: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Tasks (not rounded) to show `effect` (a share) with this power."""
    return _scale(alpha, power) ** 2 * _variance(between, within, trials) / effect**2


def detectable_effect(
    tasks: int,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    trials: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """The smallest difference (a share) that this many tasks show with this power."""
    return _scale(alpha, power) * math.sqrt(_variance(between, within, trials) / tasks)


def detectable_from_error(error: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """(z_{α/2} + z_β)·SE: the same from the standard error of a difference that was measured."""
    return _scale(alpha, power) * error


def resampled_variance(between: float, within: float, trials: int) -> float:
    """Var(x) + E[σ²]/K: the variance of one task's mean over K trials (Miller 2024 §3.1)."""
    return between + within / trials


def _scale(alpha: float, power: float) -> float:
    return normal_quantile(1 - alpha / 2) + normal_quantile(power)


def _variance(between: float, within: tuple[float, float], trials: tuple[int, int]) -> float:
    return between + within[0] / trials[0] + within[1] / trials[1]
