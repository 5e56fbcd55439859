"""The second fresh environment: what the state is after the task's `reference`, for graders that compare with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from mcpeval_dsl.execute import capture
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import relocate
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.values.model import Reading
from mcpeval_dsl.values.sources import turn_prefix


async def read_reference_world(
    context: RunContext, trial: str, task: Task, cell: Cell, own: World
) -> tuple[dict[str, Reading], tuple[CallRecord, ...]]:
    """Views after `reference`, and its calls, written as if they had happened in the trial's own folder.

    Raises StepFailed, ServerStartError, EvaluationError.
    """
    async with _second_world(context, f"{trial}/reference", task, cell, own) as (second, workdirs):
        before = len(second.calls)
        await second.workspace.perform(task.reference)
        results = second.calls[before:]
        await second.end_sessions()
        found = await capture.read_reference(
            capture.view_sources(task), own.names.scope(), second.names.scope(), second.reader("reference"), workdirs
        )
        return found, tuple(_moved(record, *workdirs, "") for record in results)


async def read_turn_references(
    context: RunContext, trial: str, task: Task, cell: Cell, own: World, numbers: Sequence[int]
) -> tuple[dict[str, Reading], tuple[CallRecord, ...]]:
    """The same for the scripted turns of a dialogue: after the references of each turn and those before it.

    `numbers`: for each turn that was come to, its number in the conversation; results are under the prefix of that turn.
    """
    dialogue = task.dialogue
    graders = dialogue.graders if dialogue is not None else ()
    if dialogue is None or not numbers or not capture.compare_with_reference(graders):
        return {}, ()
    found: dict[str, Reading] = {}
    calls: list[CallRecord] = []
    async with _second_world(context, f"{trial}/turns", task, cell, own) as (second, workdirs):
        for turn, number in zip(dialogue.turns, numbers, strict=False):
            before = len(second.calls)
            await second.workspace.perform(turn.reference)
            prefix = turn_prefix(number)
            calls += (_moved(record, *workdirs, prefix) for record in second.calls[before:])
            views = capture.views((*turn.graders, *dialogue.every))
            async with second.gateway.aside():
                read = await capture.read_reference(
                    views, own.names.scope(), second.names.scope(), second.reader("reference"), workdirs
                )
            found |= {prefix + key: reading for key, reading in read.items()}
    return found, tuple(calls)


@asynccontextmanager
async def _second_world(
    context: RunContext, name: str, task: Task, cell: Cell, own: World
) -> AsyncIterator[tuple[World, tuple[str, str]]]:
    """A second environment like the trial's, set up; with its own folder's path and the trial's."""
    second = World(context, name, cell, own.environment, trial=own.trial)
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
        yield second, workdirs
    finally:
        await asyncio.shield(second.close())
        second.remove()


def _moved(record: CallRecord, old: str, new: str, prefix: str) -> CallRecord:
    """A call of the second world as one of the actor `reference` in the trial."""
    return replace(
        record,
        id=f"{prefix}reference/{record.id}",
        actor="reference",
        arguments=cast(Mapping[str, Any], relocate(dict(record.arguments), old, new)),
        text=record.text.replace(old, new),
        structured=relocate(record.structured, old, new),
        content=tuple(cast(list[Mapping[str, Any]], relocate(list(record.content), old, new))),
    )
