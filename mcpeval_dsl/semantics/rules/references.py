"""Rule: graders that compare with the reference need one."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered


def references(lowered: Lowered) -> None:
    """`same_state` and `results has reference` without `reference { … }`."""
    for entry in lowered.parts.tasks:
        if entry.task.reference or entry.damaged:
            continue
        for grader, span in entry.reference_users:
            lowered.ctx.problems.report(
                "MCPE322",
                span,
                f"`{grader}` has nothing to compare with",
                "It compares with what the steps of `reference` lead to.",
                "add `reference { server.tool(…) }` to the task",
            )
