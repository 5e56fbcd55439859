"""The second fresh environment: what the state is after the task's `reference`, for graders that compare with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from mcpeval_dsl.execute import capture
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import relocate
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.values.model import Reading


async def read_reference_world(
    context: RunContext, trial: str, task: Task, cell: Cell, own: World
) -> tuple[dict[str, Reading], tuple[CallRecord, ...]]:
    """Views after `reference`, and its calls, written as if they had happened in the trial's own folder.

    Raises StepFailed, ServerStartError, EvaluationError.
    """
    second = World(context, f"{trial}/reference", cell, own.environment, trial=own.trial)
    try:
        await second.take_place()
        workdirs = (str(second.folder.root), str(own.folder.root))
        harvested = [
            (name, relocate(value, workdirs[1], workdirs[0]))
            for name, value in own.names.values.items()
            if name not in ("workdir", "home", "port") and (own.environment is None or name != own.environment.name)
        ]
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
        return found, tuple(_moved(record, *workdirs) for record in results)
    finally:
        await asyncio.shield(second.close())
        second.remove()


def _moved(record: CallRecord, old: str, new: str) -> CallRecord:
    """A call of the second world as one of the actor `reference` in the trial."""
    return replace(
        record,
        id=f"reference/{record.id}",
        actor="reference",
        arguments=cast(Mapping[str, Any], relocate(dict(record.arguments), old, new)),
        text=record.text.replace(old, new),
        structured=relocate(record.structured, old, new),
        content=tuple(cast(list[Mapping[str, Any]], relocate(list(record.content), old, new))),
    )
