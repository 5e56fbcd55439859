"""Plan, first step: which tasks are held out, by the seed and the task's own name only.

Each unit (a cluster, or a task that has none) is drawn on its own, so a task that is added, moved or removed never
carries another one across the split; the share is met on average, not exactly.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from mcpeval_dsl.semantics.model import Task, TypedSuite


def assign(suite: TypedSuite) -> tuple[Task, ...]:
    """The tasks in order; those drawn by `splits heldout SHARE [by NAME]` have `split` heldout."""
    if suite.heldout_share <= 0:
        return suite.tasks
    return tuple(
        replace(task, split="heldout") if draw(suite.seed, unit(task, suite.heldout_by)) < suite.heldout_share else task
        for task in suite.tasks
    )


def unit(task: Task, by: str | None) -> str:
    """What is drawn as one: the value of the field that `by` names (`cluster`, `source`, …), else the task itself."""
    value = getattr(task, by, None) if by in ("cluster", "source", "difficulty", "kind", "purpose") else None
    return f"{by}\x00{value}" if value else f"task\x00{task.name}"


def draw(seed: int, name: str) -> float:
    """A number in [0, 1) that depends on the seed and the name only."""
    digest = hashlib.sha256(f"split\x00{seed}\x00{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
