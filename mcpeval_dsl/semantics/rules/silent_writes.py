"""Rule: a task that is to write must be permitted to."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered


def silent_writes(lowered: Lowered) -> None:
    """`kind write` without `may` under `policy deny`: every write would be refused."""
    for entry in lowered.parts.tasks:
        task = entry.task
        if entry.damaged or task.kind != "write" or task.policy != "deny":
            continue
        if task.may or any(condition.may for condition in task.conditionals):
            continue
        lowered.ctx.problems.report(
            "MCPE310",
            entry.span,
            f"the task `{task.name}` is to write but permits nothing",
            "Calls that are not known to be read-only are refused unless `may` permits them.",
            "add `may TOOL(argument == value)`",
            severity="warning",
        )
