"""Score: variances to plan the next run with, from a run that there is; else assumed ones.

Of a paired difference: ω² between tasks (how differently the change works on them), σ² of one trial within a task.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.score.frame import SPLITS, Frame
from mcpeval_dsl.score.lift import of_cell
from mcpeval_dsl.score.rates import ByTask, by_task
from mcpeval_dsl.statistics.power import PLANNING_BETWEEN, PLANNING_WITHIN

CORRELATION = 0.5


@dataclass(frozen=True, slots=True)
class Variances:
    """`source` says where they come from. `tasks` and `trials` (a task) are those of the run; 0 where assumed."""

    between: float
    within: float
    source: str
    tasks: int = 0
    trials: int = 0


ASSUMED = Variances(PLANNING_BETWEEN, PLANNING_WITHIN, "assumed: no run was given")


def of_cells(frame: Frame) -> list[tuple[str, Variances]]:
    """For each cell, of its train tasks. One run does not show how a change would work: the two versions of a task are
    taken to be correlated at .5, so that ω² = 2·(1 − .5)·Var(chance)."""
    found = []
    for cell in dict.fromkeys(group.cell for group in frame.groups):
        tested = of_cell(frame, cell)
        tested = tested.where(tested["testable"] & (tested["split"] == SPLITS.index("train")))
        if len(tested):
            variances = of_tasks(by_task(tested, tested["success"]))
            if variances is not None:
                found.append((cell, variances))
    return found


def of_tasks(tasks: ByTask) -> Variances | None:
    """None for fewer than two tasks. Without repeats the trials' own variance cannot be told apart and stands in ω²."""
    if len(tasks.instances) < 2:
        return None
    chances, trials = tasks.sums / tasks.trials, tasks.trials
    seen = float(np.var(chances, ddof=1))
    repeated = trials > 1
    fewest = int(trials.min())
    if not repeated.any():
        return Variances(2 * (1 - CORRELATION) * seen, 0.0, "this run, without repeats", len(trials), 1)
    within = _within(chances[repeated], trials[repeated])
    between = max(0.0, seen - float(np.mean(within.mean() / trials)))
    return Variances(2 * (1 - CORRELATION) * between, float(within.mean()), "this run", len(trials), fewest)


def _within(chances: NDArray[np.float64], trials: NDArray[np.int64]) -> NDArray[np.float64]:
    """p(1−p)·n/(n−1): the variance of one trial of each task, without bias."""
    found: NDArray[np.float64] = chances * (1 - chances) * trials / (trials - 1)
    return found
