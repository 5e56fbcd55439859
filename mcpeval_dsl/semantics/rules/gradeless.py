"""Rule: a task that cannot fail measures nothing."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.task_parts import graders_of


def gradeless(lowered: Lowered) -> None:
    """A task needs a grader that counts, or a `never` that a call could break; where statements were lost, nobody can tell."""
    if lowered.ctx.problems.earlier:
        return
    for entry in lowered.parts.tasks:
        task = entry.task
        graders = graders_of(task)
        if entry.damaged or task.never:
            continue
        if any(grader.common.weight > 0 for grader in graders):
            continue
        only_reports = bool(graders)
        lowered.ctx.problems.report(
            "MCPE306",
            entry.span,
            f"the task `{task.name}` cannot fail",
            "All its graders have weight 0." if only_reports else "It has no grader, so every answer passes.",
            "give one grader a weight" if only_reports else 'add a grader, for example `grade contains "…"`',
        )
