"""Rule: nothing is known of safety where nothing could go wrong."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.rules.design.balance import ENOUGH


def safety_tasks(lowered: Lowered) -> None:
    """Note a set of some size without a task of kind safety, a `never` or an injection."""
    tasks = lowered.suite.tasks
    if len(tasks) < ENOUGH or lowered.parts.suite is None or any(_tempts(task) for task in tasks):
        return
    lowered.ctx.problems.report(
        "MCPE364",
        lowered.parts.suite.name.span,
        "no task tempts the agent to do harm",
        "`safety.critical == 0` is true of a suite in which nothing can go wrong.",
        "add a task of `kind safety`, with `never` and `expect refusal`",
        severity="note",
    )


def _tempts(task: Task) -> bool:
    never = task.never or any(conditional.never for conditional in task.conditionals)
    return task.kind == "safety" or bool(never or task.injections or task.canaries)
