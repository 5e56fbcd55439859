"""Grading, before it begins: which graders start something or ask somebody, so that they need trust and may cost."""

from __future__ import annotations

from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import all_graders

RUNNING = frozenset({"command", "python"})
STARTING = RUNNING | {"judge"}


def starts_something(task: Task) -> bool:
    """Whether grading it asks a judge, runs a command or imports the project's code."""
    return _has(task, STARTING)


def runs_code(task: Task) -> bool:
    """Whether grading it starts a process."""
    return _has(task, RUNNING)


def _has(task: Task, kinds: frozenset[str]) -> bool:
    return any(grader.kind in kinds for grader in all_graders(task))
