"""Statistics of yes-or-no trials from their counts by task, over arrays: the same values as from the single trials.

`passed` and `trials` have one entry for each task, with at least one trial. numpy is the caller's: arrays in, numbers out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
else:
    Counts = Any


def naive_error(passed: Counts, trials: Counts) -> float | None:
    """√(p(1−p)/(N−1)) over all N trials, as if they were independent; None for one trial. See `clusters.standard_error`."""
    total = int(trials.sum())
    if total < 2:
        return None
    share = int(passed.sum()) / total
    return math.sqrt(share * (1 - share) / (total - 1))


def design_effect(passed: Counts, trials: Counts) -> float | None:
    """(error clustered by task / naive error)². See `clusters.design_effect`."""
    naive, tasks, total = naive_error(passed, trials), len(trials), int(trials.sum())
    if naive is None or naive == 0 or tasks < 2:
        return None
    deviations = passed - trials * (int(passed.sum()) / total)
    clustered = math.sqrt(tasks / (tasks - 1) * float((deviations**2).sum())) / total
    return (clustered / naive) ** 2


def intraclass_correlation(passed: Counts, trials: Counts) -> float | None:
    """ICC(1) by one-way analysis of variance. See `clusters.intraclass_correlation`."""
    tasks, total = len(trials), int(trials.sum())
    if tasks < 2 or total == tasks:
        return None
    means = passed / trials
    between = float((trials * (means - int(passed.sum()) / total) ** 2).sum()) / (tasks - 1)
    within = float((passed * (1 - means)).sum()) / (total - tasks)
    size = (total - float((trials.astype(float) ** 2).sum()) / total) / (tasks - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread > 0 else None
