"""Score: variances to plan the next run with, from a run that there is; else assumed ones.

Of a paired difference: ω² between tasks (how differently the change works on them), σ² of one trial within a task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.score.frame import SPLITS, Frame
from mcpeval_dsl.score.lift import of_cell
from mcpeval_dsl.score.rates import ByTask, by_task
from mcpeval_dsl.statistics.power import PLANNING_BETWEEN, PLANNING_WITHIN

CORRELATION = 0.5
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Variances:
    """`source` says what was measured and what is assumed. `tasks` and `trials` (a task) are the run's; 0 where assumed.

    `correlation` is that of a task's chances on both sides of a difference: measured between cells of the run, else assumed;
    None where it cannot be told.
    """

    between: float
    within: float
    source: str
    tasks: int = 0
    trials: int = 0
    correlation: float | None = CORRELATION


ASSUMED = Variances(PLANNING_BETWEEN, PLANNING_WITHIN, "both assumed: no run was given")


def of_cells(frame: Frame) -> list[tuple[tuple[str, ...], Variances]]:
    """Of the train tasks of each cell; cells for which they are the same stand together."""
    tested = {}
    for cell in dict.fromkeys(group.cell for group in frame.groups):
        trials = of_cell(frame, cell)
        trials = trials.where(trials["testable"] & (trials["split"] == SPLITS.index("train")))
        if len(trials):
            tested[cell] = by_task(trials, trials["success"])
    found: dict[Variances, list[str]] = {}
    for cell, tasks in tested.items():
        variances = of_tasks(tasks, [other for name, other in tested.items() if name != cell])
        if variances is not None:
            found.setdefault(variances, []).append(cell)
    return [(tuple(cells), variances) for variances, cells in found.items()]


def of_tasks(tasks: ByTask, others: Sequence[ByTask] = ()) -> Variances | None:
    """None for fewer than two tasks. ω² is that of the differences from `others`, the run's other cells, on the same tasks.

    A run with one cell does not show how a change would work: two versions of a task are taken to be correlated at .5, so that
    ω² = 2·(1 − .5)·Var(chance). Without repeats the trials' own variance cannot be told apart and stands in ω².
    """
    if len(tasks.instances) < 2:
        return None
    trials = tasks.trials
    repeated = bool((trials > 1).any())
    within = _within(tasks)
    usual = int(np.median(trials))  # a trial that could not be tested is no plan
    own = _variance(tasks)
    if own < _NOTHING and within < _NOTHING and not any(_variance(other) > _NOTHING for other in others):
        reason = "both assumed: every trial of this run ended alike"
        return replace(ASSUMED, source=reason, tasks=len(trials), trials=usual)
    measured = [pair for other in others if (pair := _paired(tasks, other)) is not None]
    noise = "" if repeated else ", trials' own variance with it: there are no repeats"
    if measured:
        between = float(np.mean([each for each, _ in measured]))
        known = [each for _, each in measured if each is not None]
        correlation = float(np.mean(known)) if known else None
        alike = "" if correlation is None else f", correlation {correlation:.2f}"
        where = f"measured between cells of this run{alike}{noise}"
    else:
        between, correlation = 2 * (1 - CORRELATION) * own, CORRELATION
        where = f"variance of tasks {own:.3f} measured{noise}, correlation of two versions {CORRELATION:.2f} assumed"
    source = f"between: {where}; within: {'measured' if repeated else 'in the other'}"
    return Variances(between, within, source, len(trials), usual, correlation)


def _paired(one: ByTask, other: ByTask) -> tuple[float, float | None] | None:
    """ω² of the differences on the tasks of both, noise of the trials apart, and the correlation that comes to.

    None for the correlation where all tasks of one side have the same chance.
    """
    _, left, right = np.intersect1d(one.instances, other.instances, assume_unique=True, return_indices=True)
    if len(left) < 2:
        return None
    first, second = _taken(one, left), _taken(other, right)
    seen = float(np.var(first.sums / first.trials - second.sums / second.trials, ddof=1))
    between = max(0.0, seen - _noise(first) - _noise(second))
    variances = _variance(first), _variance(second)
    spread = math.sqrt(variances[0] * variances[1])
    if spread < _NOTHING:
        return between, None
    return between, min(1.0, max(-1.0, (sum(variances) - between) / (2 * spread)))


def _taken(tasks: ByTask, chosen: NDArray[np.int64]) -> ByTask:
    return ByTask(tasks.instances[chosen], tasks.trials[chosen], tasks.sums[chosen], tasks.clusters[chosen])


def _variance(tasks: ByTask) -> float:
    """Of the tasks' chances, noise of the trials apart."""
    return max(0.0, float(np.var(tasks.sums / tasks.trials, ddof=1)) - _noise(tasks))


def _noise(tasks: ByTask) -> float:
    """What the trials' own variance adds to that of the tasks' rates."""
    return float(np.mean(_within(tasks) / tasks.trials))


def _within(tasks: ByTask) -> float:
    """Mean over tasks with repeats of p(1−p)·n/(n−1), the variance of one trial without bias; 0 without repeats."""
    repeated = tasks.trials > 1
    if not repeated.any():
        return 0.0
    trials = tasks.trials[repeated]
    chances = tasks.sums[repeated] / trials
    return float(np.mean(chances * (1 - chances) * trials / (trials - 1)))
