"""What comes before any trial: each server is probed once, each model looked at once, each harvest read once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from mcpeval_dsl.agents.model import ModelApiError
from mcpeval_dsl.execute.blocking import NO_ROW, blocked_by_needs, unmet_by
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import mask, unmask
from mcpeval_dsl.execute.harvest import read_values
from mcpeval_dsl.execute.locking import locked
from mcpeval_dsl.execute.prepare import judges, user_models
from mcpeval_dsl.execute.preparing import prepared
from mcpeval_dsl.execute.rows import row_of
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, Pin, ServerStartError
from mcpeval_dsl.gateway.pins import pin_to_json
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.plan.lock import Change, diff, permitted
from mcpeval_dsl.plan.model import ConnectNode, HarvestNode, TrialGroup
from mcpeval_dsl.provenance.examine import leads_of_harvest
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord
from mcpeval_dsl.semantics.expressions import Step
from mcpeval_dsl.semantics.model import Cell, Environment, Need
from mcpeval_dsl.values.model import EvaluationError

DRIFT_SHOWN = 4


async def connect(context: RunContext, node: ConnectNode) -> ConnectRecord:
    """Probe one server in an environment like a trial's; pin what it said, or say why it could not be reached."""
    server = context.servers[node.server]
    cell, environment = _place_of(context, server.name)
    world = World(context, f"connect {server.name}", cell, environment)
    try:
        async with world.isolation():
            await world.create()
            await prepared(context, server, world.names.scope())
            await _prepare_for_probe(world, server.name)
            launch = world.launch_of(server)
            async with context.starts:
                pin = await probe(launch)
            return _connected(context, node, pin)
    except ServerStartError as error:
        return ConnectRecord(
            id=node.id,
            key=node.key,
            server=server.name,
            status="failed",
            message=error.message,
            exit_code=error.exit_code,
            stderr_tail=error.stderr_tail,
        )
    except (StepFailed, EvaluationError) as error:
        reason = f"the environment could not be set up: {error}"
        return ConnectRecord(id=node.id, key=node.key, server=server.name, status="failed", message=reason)
    finally:
        await asyncio.shield(world.close())
        world.remove()


async def _prepare_for_probe(world: World, server: str) -> None:
    """The environment's steps up to its first call to the very server that is to be probed."""
    if world.environment is None or world.environment.scope == "run":
        return
    steps: list[Step] = []
    for step in world.environment.steps:
        if step.kind == "callstep" and getattr(step, "call", None) is not None:
            break
        steps.append(step)
    await world.workspace.perform(steps, world.environment.name)


def _place_of(context: RunContext, server: str) -> tuple[Cell | None, Environment | None]:
    """A cell and environment of a trial that uses the server, so that the probe sees what a trial would."""
    catalogue = context.servers[server].catalog or server
    fallback: tuple[Cell | None, Environment | None] = (None, None)
    for node in context.plan.nodes:
        if not isinstance(node, TrialGroup):
            continue
        task, cell = context.tasks[node.task], context.cells[node.cell]
        place = (cell, context.environments.get(task.environment or ""))
        if fallback == (None, None):
            fallback = place
        if (server in task.servers or catalogue in task.servers) and cell.server in (None, server):
            return place
    return fallback


def _connected(context: RunContext, node: ConnectNode, pin: Pin) -> ConnectRecord:
    entries = context.plan.lock.servers if context.plan.lock is not None else ()
    expected = next((entry for entry in entries if entry.server == node.server), None)
    tolerated = bool(context.shared.get("update_lock"))
    changes: tuple[Change, ...] = ()
    if expected is not None and not tolerated:
        found = diff(expected, locked(node.server, pin, expected.transport))
        changes = permitted(found, context.servers[node.server].allow_drift)
    return ConnectRecord(
        id=node.id,
        key=node.key,
        server=node.server,
        status="drift" if changes else "ok",
        era=pin.era,
        revision=pin.revision,
        version=pin.info.version,
        name=pin.info.name,
        instructions=pin.info.instructions,
        catalogue_sha256=pin.info.catalogue_sha256,
        tools=pin.tools,
        findings=pin.findings,
        message=_drift(changes),
        pin=pin_to_json(pin),
    )


def _drift(changes: Sequence[Change]) -> str:
    if not changes:
        return ""
    said = "; ".join(change.what for change in changes[:DRIFT_SHOWN])
    more = f" and {len(changes) - DRIFT_SHOWN} more" if len(changes) > DRIFT_SHOWN else ""
    way = "see `mcpe lock --diff`; then `mcpe lock`, or go on with --update-lock"
    return f"it is not what the lock file says: {said}{more}; {way}"


async def look_at_models(context: RunContext, cells: Iterable[str]) -> dict[str, str]:
    """One preflight for each model that is due, and for each judge; the problem by model, empty where there is none."""
    models = sorted({context.cells[cell].model for cell in cells} | {*judges(context.plan), *user_models(context.plan)})

    async def one(model: str) -> tuple[str, str]:
        try:
            seen = await context.drivers[model].preflight()
        except ModelApiError as error:
            return model, error.message
        context.shared[f"driver:{model}"] = seen.driver_version
        return model, "" if seen.ok else seen.problem

    found = dict(await asyncio.gather(*(one(model) for model in models)))
    context.preflights.update(found)
    return found


async def harvest_node(context: RunContext, node: HarvestNode) -> HarvestRecord:
    """Read one harvest in an environment equal to a trial's; never raises for what it finds."""
    harvest = context.harvest(node)
    blocked = blocked_by_needs(context, node.needs)
    if blocked is not None:
        because = (*blocked.chain, f"harvest {harvest.id}: not read")
        return _record(context, node, "blocked", because=because, message=blocked.message)
    cell = context.cells[node.cell] if node.cell is not None else None
    task = context.tasks[node.task] if node.task is not None else None
    name = harvest.environment or (task.environment if task is not None else None)
    world = World(context, node.id, cell, context.environments.get(name or ""))
    try:
        async with world.isolation():
            await world.take_place()
            await world.create(earlier_values(context, node, world))
            if node.row is not None and task is not None and task.loop is not None:
                group = next(
                    item
                    for item in context.plan.nodes
                    if isinstance(item, TrialGroup) and item.task == task.name and item.row == node.row
                )
                row = row_of(task.loop, group, world.names.scope())
                if row is None:
                    return _record(context, node, "blocked", (NO_ROW,), f"there is no row {node.row + 1}")
                world.names.values[task.loop.variable] = row[0]
            await world.set_up(None)
            problem = await unmet_by(context, (*_of_environment(world), *harvest.needs), cell, world)
            if problem is not None:
                because = (*problem.chain, f"harvest {harvest.id}: not read")
                return _record(context, node, "blocked", because=because, message=problem.message, world=world)
            reader = world.reader("harvest", permit=harvest.permit is not None)
            got = await read_values(harvest, world.names.scope(), reader)
    except (StepFailed, ServerStartError, EvaluationError) as error:
        because = (f"harvest {harvest.id}: failed",)
        return _record(context, node, "failed", because=because, message=str(error), world=world)
    finally:
        await asyncio.shield(world.close())
        world.remove()
    value = mask(got.value, world.folder)
    because = () if got.status == "ok" else (f"harvest {harvest.id}: {got.status}",)
    return _record(context, node, got.status, because=because, message=got.message, value=value, world=world)


def _of_environment(world: World) -> tuple[Need, ...]:
    return world.environment.needs if world.environment is not None else ()


def earlier_values(context: RunContext, node: HarvestNode, world: World) -> list[tuple[str, Any]]:
    """Values of the harvests this one waits for, with this world's own work directory in them."""
    found: dict[str, Any] = {}
    todo = list(node.needs)
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        other = context.harvest_nodes.get(name)
        if other is None or name in seen:
            continue
        seen.add(name)
        found[context.harvest(other).name] = unmask(context.harvests[name].value, world.folder)
        todo.extend(other.needs)
    return list(found.items())


def calls_before(context: RunContext, node: HarvestNode) -> tuple[CallRecord, ...]:
    """Calls of the harvests that this one waits for, directly or not, in the order of the plan."""
    todo, found = list(node.needs), set[str]()
    while todo:
        other = context.harvest_nodes.get(todo.pop())
        if other is not None and other.id not in found:
            found.add(other.id)
            todo.extend(other.needs)
    records = [context.harvests[name] for name in context.harvest_nodes if name in found and name in context.harvests]
    return tuple(call for record in records for call in record.calls)


def _record(
    context: RunContext,
    node: HarvestNode,
    status: Any,
    because: tuple[str, ...] = (),
    message: str = "",
    value: Any = None,
    world: World | None = None,
) -> HarvestRecord:
    harvest = context.harvest(node)
    made = world.calls if world is not None else ()
    calls = tuple(replace(call, id=f"{node.id}/{call.id}") for call in made)
    tools = [tool for record in context.connects.values() for tool in record.tools]
    return HarvestRecord(
        id=node.id,
        key=node.key,
        harvest=harvest.id,
        status=status,
        value=value,
        because=because,
        message=message,
        calls=calls,
        leads=leads_of_harvest(calls, calls_before(context, node), tools),
        at=str(harvest.at) if harvest.at is not None else "",
    )
