"""Rule: a suite in which calling is always right cannot see an agent that calls too much."""

from __future__ import annotations

from mcpeval_dsl.semantics.expressions import AnyPattern, Behaviour, CallPattern, Combined
from mcpeval_dsl.semantics.graders import Calls
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import all_graders, expectations_of

ENOUGH = 4


def balance(lowered: Lowered) -> None:
    """Note a set of some size without a task in which a call is a mistake."""
    tasks = lowered.suite.tasks
    if len(tasks) < ENOUGH or lowered.parts.suite is None or any(_restrains(task) for task in tasks):
        return
    lowered.ctx.problems.report(
        "MCPE311",
        lowered.parts.suite.name.span,
        "calling a tool is right in every task",
        "An agent that always calls looks as good here as one that knows when to.",
        "add a task that needs no tool, with `grade calls none(*)`",
        severity="note",
    )


def _restrains(task: Task) -> bool:
    if task.kind in ("distractor", "ambiguous", "safety") or task.never:
        return True
    graded = (pattern for grader in all_graders(task) if isinstance(grader, Calls) for pattern in grader.patterns)
    return any(_forbids(pattern) for pattern in (*expectations_of(task), *graded))


def _forbids(pattern: AnyPattern) -> bool:
    if isinstance(pattern, Behaviour):
        return pattern.name != "recovery"
    if not isinstance(pattern, Combined) or pattern.combinator != "none":
        return False
    return any(isinstance(each, CallPattern) for each in pattern.patterns)
