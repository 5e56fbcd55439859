"""The second fresh environment: what the state is after the task's `reference`, for graders that compare with it."""

from __future__ import annotations

import asyncio

from mcpeval_dsl.execute import capture
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import relocate
from mcpeval_dsl.execute.world import World, reading_of_call
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.values.model import Reading
from mcpeval_dsl.values.sources import REFERENCE


async def read_reference_world(
    context: RunContext, trial: str, task: Task, cell: Cell, own: World
) -> dict[str, Reading]:
    """Views after `reference`, and the results of its calls. Raises StepFailed, ServerStartError, EvaluationError."""
    second = World(context, f"{trial}/reference", cell, own.environment, trial=own.trial)
    workdirs = (str(second.folder.root), str(own.folder.root))
    harvested = [
        (name, relocate(value, workdirs[1], workdirs[0]))
        for name, value in own.names.values.items()
        if name not in ("workdir", "home", "port") and (own.environment is None or name != own.environment.name)
    ]
    try:
        await second.create(harvested)
        await second.set_up(None)
        await second.workspace.perform(task.setup)
        before = len(second.calls)
        await second.workspace.perform(task.reference)
        results = second.calls[before:]
        await second.end_sessions()
        found = await capture.read_reference(
            capture.view_sources(task), own.names.scope(), second.names.scope(), second.reader("reference"), workdirs
        )
        for number, record in enumerate(results):
            reading = capture.relocated(reading_of_call(record), *workdirs)
            found[f"{REFERENCE}call:{number}"] = reading
        return found
    finally:
        await asyncio.shield(second.close())
        second.remove()
