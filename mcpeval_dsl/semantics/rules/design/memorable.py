"""Rule: what a model may know by heart says nothing about the server."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.answers import asks_for_nothing, compared, looks_further
from mcpeval_dsl.semantics.rules.design.advice import about_task


def memorable(lowered: Lowered) -> None:
    """Note tasks whose answer is a constant of a public world, and whose graders do not ask where it came from."""
    made = {each.name for each in lowered.suite.environments if each.steps}
    for entry in lowered.parts.tasks:
        task = entry.task
        if asks_for_nothing(task) or looks_further(task) or task.setup or task.environment in made:
            continue
        graders = compared(task)
        if graders and all(each.literal is not None for each in graders):
            about_task(
                lowered,
                entry,
                "MCPE370",
                f"`{task.name}` could be answered from memory",
                "The answer is a constant, and nothing asks whether it was looked up.",
                "harvest a value that nobody can guess, or add `grade evidence`",
                "note",
            )
