"""Execution, without a model: the lines of a `check` block, one after the other in one fresh environment.

A line passes or fails by what the server did; whatever keeps it from being asked leaves it `not tested`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from mcpeval_dsl.execute.blocking import Blocked
from mcpeval_dsl.execute.check_access import auth, oauth, origin, transport
from mcpeval_dsl.execute.check_calls import Asked, call, latency
from mcpeval_dsl.execute.check_lines import LineResult, of_rule, what
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.harvest import read_values
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.conformance import conforms
from mcpeval_dsl.gateway.model import Pin, ServerStartError
from mcpeval_dsl.gateway.network import Refused
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.semantics.checks import (
    AuthCheck,
    CapabilityCheck,
    CheckLine,
    ConformanceCheck,
    LatencyCheck,
    OAuthCheck,
    OriginCheck,
    ProtocolCheck,
    SchemaCheck,
    ToolCheck,
    TransportCheck,
)
from mcpeval_dsl.semantics.expressions import CallStep
from mcpeval_dsl.semantics.model import Cell, Check
from mcpeval_dsl.values.model import EvaluationError


async def run_check(
    context: RunContext,
    check: Check,
    number: int = 1,
    harvested: Callable[[World], Iterable[tuple[str, Any]]] | None = None,
) -> tuple[LineResult, ...]:
    """Every line of the check with its state. Never raises for what a server or a set-up does.

    `harvested` gives the values of the harvests it waits for, by name, as they are in this world.
    """
    server = check.server if check.server in context.servers else None
    cell = Cell(f"check {check.server}", model="", host="", server=server)
    environment = context.environments.get(check.environment or "")
    world = World(context, f"check {check.server} {number}", cell, environment)
    results: list[LineResult] = []
    try:
        async with world.isolation():
            await world.take_place()
            await world.create(harvested(world) if harvested is not None else ())
            await world.set_up(None)
            await _own_harvests(context, check, world)
            asked = Asked(context, check, world)
            for line in check.lines:
                before = len(world.refused)
                results.append(_with_hosts(await _line(asked, line), world.refused[before:]))
            await world.tear_down()
    except (StepFailed, EvaluationError, Blocked, ServerStartError) as problem:
        results += not_tested(check.lines[len(results) :], f"the environment could not be set up: {problem}")
    finally:
        await asyncio.shield(world.close())
        world.remove()
    return tuple(results)


def _with_hosts(done: LineResult, refused: Iterable[Refused]) -> LineResult:
    """What was asked for beyond the list is told with the line it was asked under, whatever became of that line."""
    hosts = dict.fromkeys(f"{each.host}:{each.port}" for each in refused)
    if not hosts:
        return done
    said = f"{', '.join(hosts)} was asked for, which `network` does not list"
    return replace(done, reason=f"{done.reason}; {said}" if done.reason else said)


def not_tested(lines: Iterable[CheckLine], reason: str) -> list[LineResult]:
    return [LineResult(what(line), "not tested", line.at, reason=reason) for line in lines]


async def _own_harvests(context: RunContext, check: Check, world: World) -> None:
    """Harvests of scope `trial` are read in the check's own world. Raises Blocked."""
    for harvest in context.plan.harvests:
        if harvest.scope == "trial" and harvest.id in check.uses:
            reader = world.reader("harvest", permit=harvest.permit is not None)
            got = await read_values(harvest, world.names.scope(), reader)
            if got.status != "ok":
                raise Blocked("harvest", (f"harvest {harvest.id}: {got.status}",), got.message)
            world.names.values[harvest.name] = got.value


async def _line(asked: Asked, line: CheckLine) -> LineResult:
    done = LineResult(what(line), "pass", line.at)
    try:
        match line:
            case CallStep():
                return await call(asked, line, done)
            case ToolCheck() | SchemaCheck():
                return _catalogue(line, await asked.pin(), done)
            case CapabilityCheck():
                return await _capability(asked, line, done)
            case ProtocolCheck():
                return await _protocol(asked, line, done)
            case TransportCheck():
                return await transport(asked, line, done)
            case AuthCheck():
                return await auth(asked, line, done)
            case OriginCheck():
                return await origin(asked, line, done)
            case LatencyCheck():
                return await latency(asked, line, done)
            case ConformanceCheck():
                return of_rule(done, await conforms(asked.launch(), await asked.pin(), line.scenario))
            case OAuthCheck():
                return await oauth(asked, line, done)
    except ServerStartError as error:
        return replace(done, state="not tested", reason=f"server {error.server}: {error.message}")
    except EvaluationError as error:
        return replace(done, state="not tested", reason=f"a value is missing: {error.reason}")


def _catalogue(line: ToolCheck | SchemaCheck, pin: Pin, done: LineResult) -> LineResult:
    match line:
        case ToolCheck():
            there = any(tool.name == line.tool for tool in pin.tools)
            wanted, actual = line.present, "present" if there else "absent"
            expected = "present" if line.present else "absent"
            return done if there == wanted else replace(done, state="fail", actual=actual, expected=expected)
        case SchemaCheck():
            broken = next((tool for tool in pin.tools if tool.finding is not None), None)
            if broken is None:
                return done
            return replace(done, state="fail", actual=f"tool {broken.name}: {broken.finding}", expected="valid")


async def _capability(asked: Asked, line: CapabilityCheck, done: LineResult) -> LineResult:
    """What is declared; where it can be listed and that goes wrong, the declaration is only a part of the truth."""
    pin = await asked.pin()
    declared = line.capability in pin.info.capabilities
    if line.state != "optional" and declared != (line.state == "required"):
        actual = "declared" if declared else "not declared"
        return replace(done, state="fail", actual=actual, expected=line.state)
    scenario = f"{line.capability}-list"
    if not declared or line.capability not in ("resources", "prompts"):
        return done
    kept = await conforms(asked.launch(), pin, scenario)
    if kept.word == "pass":
        return done
    said = kept.actual or kept.reason
    return replace(
        done, state="partial", reason=f"it is declared, and {line.capability}/list is not as it should be: {said}"
    )


async def _protocol(asked: Asked, line: ProtocolCheck, done: LineResult) -> LineResult:
    """Whether the server speaks this revision when it is offered no other."""
    try:
        pin = await probe(replace(asked.launch(), protocols=(line.revision,)))
        spoken, said = pin.revision == line.revision, f"it answers with {pin.revision}"
    except ServerStartError as error:
        if error.kind != "unsupported_revision" or error.message.startswith("no known protocol revision"):
            raise
        spoken, said = False, error.message
    if spoken == (line.state == "supported"):
        return done
    return replace(done, state="fail", actual="supported" if spoken else said, expected=line.state)


__all__ = ["LineResult", "not_tested", "run_check"]
