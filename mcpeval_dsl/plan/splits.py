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
    units = _by_tag(suite.tasks) if suite.heldout_by == "tag" else {}
    return tuple(
        replace(task, split="heldout")
        if draw(suite.seed, units.get(task.name) or unit(task, suite.heldout_by)) < suite.heldout_share
        else task
        for task in suite.tasks
    )


def _by_tag(tasks: tuple[Task, ...]) -> dict[str, str]:
    """Task -> unit: tasks that share a tag, also by way of others, are one, named by the least of their tags."""
    import networkx as nx

    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    for task in tasks:
        graph.add_edges_from((("task", task.name), ("tag", tag)) for tag in task.tags)
    found: dict[str, str] = {}
    for part in nx.connected_components(graph):
        least = min(name for kind, name in part if kind == "tag")
        found |= {name: f"tag\x00{least}" for kind, name in part if kind == "task"}
    return found


def unit(task: Task, by: str | None) -> str:
    """What is drawn as one: the value of the field that `by` names (`cluster`, `source`, …), else the task itself."""
    value = getattr(task, by, None) if by in ("cluster", "source", "difficulty", "kind", "purpose") else None
    return f"{by}\x00{value}" if value else f"task\x00{task.name}"


def draw(seed: int, name: str) -> float:
    """A number in [0, 1) that depends on the seed and the name only."""
    digest = hashlib.sha256(f"split\x00{seed}\x00{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
