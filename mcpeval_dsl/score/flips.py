"""Score: tasks that changed sides between two runs. A task passes here when more than half of its testable trials do."""

from __future__ import annotations

import numpy as np

from mcpeval_dsl.score.rates import ByTask


def flips(now: ByTask, before: ByTask) -> tuple[list[int], list[int]]:
    """Instances that passed before and do not now, and those that do now and did not before; on both sides tested ones."""
    common, left, right = np.intersect1d(now.instances, before.instances, assume_unique=True, return_indices=True)
    passes = 2 * now.sums[left] > now.trials[left]
    passed = 2 * before.sums[right] > before.trials[right]
    return common[passed & ~passes].tolist(), common[passes & ~passed].tolist()
