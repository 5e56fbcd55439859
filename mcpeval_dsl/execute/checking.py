"""Execution, without a model: the lines of a `check` block, one after the other in one fresh environment.

A line passes or fails by what the server did; whatever keeps it from being asked leaves it `not tested`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal

from mcpeval_dsl.execute.blocking import Blocked
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.reading import with_readings
from mcpeval_dsl.execute.remote import is_remote
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.execute.world import World, reading_of_call
from mcpeval_dsl.gateway.model import CallRecord, Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.semantics.expressions import CallStep
from mcpeval_dsl.semantics.model import CapabilityCheck, Cell, Check, CheckLine, ProtocolCheck, SchemaCheck, ToolCheck
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.sources import arguments_of
from mcpeval_dsl.values.subject import plain_text, subject_of

State = Literal["pass", "fail", "not tested"]


@dataclass(frozen=True, slots=True)
class LineResult:
    """`what` names the line for a person; `actual` and `expected` are short texts of a line that failed."""

    what: str
    state: State
    at: Location | None = None
    actual: str = ""
    expected: str = ""
    reason: str = ""


@dataclass(slots=True)
class _Asked:
    """One check being carried out; `pin` is what its server says of itself, asked at most once."""

    context: RunContext
    check: Check
    world: World
    pin: Pin | None = None


async def run_check(context: RunContext, check: Check, number: int = 1) -> tuple[LineResult, ...]:
    """Every line of the check with its state. Never raises for what a server or a set-up does."""
    server = check.server if check.server in context.servers else None
    cell = Cell(f"check {check.server}", model="", host="", server=server)
    environment = context.environments.get(check.environment or "")
    world = World(context, f"check {check.server} {number}", cell, environment)
    results: list[LineResult] = []
    try:
        async with world.isolation():
            await world.take_place()
            await world.create()
            await world.set_up(None)
            asked = _Asked(context, check, world)
            for line in check.lines:
                results.append(await _line(asked, line))
            await world.tear_down()
    except (StepFailed, EvaluationError, Blocked, ServerStartError) as problem:
        reason = f"the environment could not be set up: {problem}"
        results += [
            LineResult(_what(line), "not tested", line.at, reason=reason) for line in check.lines[len(results) :]
        ]
    finally:
        await asyncio.shield(world.close())
        world.remove()
    return tuple(results)


async def _line(asked: _Asked, line: CheckLine) -> LineResult:
    done = LineResult(_what(line), "pass", line.at)
    try:
        match line:
            case CallStep():
                return await _call(asked, line, done)
            case ProtocolCheck():
                return await _protocol(asked, line, done)
            case _:
                return _catalogue(line, await _pin(asked), done)
    except ServerStartError as error:
        return replace(done, state="not tested", reason=f"server {error.server}: {error.message}")
    except EvaluationError as error:
        return replace(done, state="not tested", reason=f"a value is missing: {error.reason}")


async def _call(asked: _Asked, step: CallStep, done: LineResult) -> LineResult:
    """A call without requirements leads up to others: when it fails, nothing is known of the server's rules."""
    world, call = asked.world, step.call
    server = asked.context.server_of(call.server, world.cell)
    if server is None:
        return replace(done, state="not tested", reason=f"there is no server `{call.server}`")
    await world.gateway.open([server.name])
    reader = world.reader("probe")
    scope = await with_readings([entry.value for entry in call.arguments], world.names.scope(), reader)
    permit = asked.context.settings.allow_writes or (world.disposable and not is_remote(server))
    record = await world.gateway.call(
        "probe", server.name, call.tool, arguments_of(call.arguments, scope), permit=permit
    )
    if record.permission.decision == "denied":
        reason = "it may write, and the server is not disposable: allow it with --allow-writes"
        return replace(done, state="not tested", reason=reason)
    after = [*(requirement.condition for requirement in step.requires), *(entry.value for entry in step.bindings)]
    inner = await with_readings(after, _after(record, scope), reader)
    if not step.requires and class_of(record) != "none":
        return replace(done, state="not tested", reason=f"the call failed: {said_of(record)}")
    for requirement in step.requires:
        result = condition(requirement.condition, inner)
        if not result.holds:
            actual = result.actual if class_of(record) == "none" else said_of(record)
            return replace(
                done,
                state="fail",
                at=requirement.at,
                actual=actual,
                expected=result.expected,
                reason=requirement.because,
            )
    bound: dict[str, Any] = {}
    for entry in step.bindings:
        bound[entry.key] = evaluate(entry.value, extended(inner, **bound))
    if step.name is not None:
        world.names.values[step.name] = bound if step.bindings else inner.subject
    return done


def _after(record: CallRecord, scope: Scope) -> Scope:
    """The names a requirement may use: `$` and `result`, `error`, `class`, `status`, `latency` (s)."""
    reading = reading_of_call(record)
    subject = subject_of(reading) if reading.error is None else record.text
    error = record.error
    failed = class_of(record) != "none"
    seconds = record.duration_ms / 1000.0
    status = error.status if error is not None else None
    text = error.message if error is not None else record.text if failed else ""
    names: dict[str, Any] = {
        "result": subject,
        "error": {"text": text, "code": error.code if error is not None else None, "status": status},
        "class": class_of(record),
        "status": status,
        "latency": dict.fromkeys(("mean", "p50", "p95", "max"), seconds),
    }
    text_of_result = plain_text(reading) if reading.error is None else record.text
    return replace(extended(scope, **names), subject=subject, has_subject=True, subject_text=text_of_result)


def class_of(record: CallRecord) -> str:
    """The error class on the wire, `none` for a call that succeeded."""
    return record.error.error_class if record.error is not None else "tool_error" if record.is_error else "none"


def said_of(record: CallRecord) -> str:
    """Class and text of a failed call, in one line."""
    text = record.error.message if record.error is not None else record.text
    return f"{class_of(record)}: {' '.join(text.split())[:200]}"


def _launch(asked: _Asked) -> Launch:
    server = asked.context.server_of(asked.check.server, asked.world.cell)
    if server is None:
        raise EvaluationError(f"there is no server `{asked.check.server}`")
    return asked.world.launch_of(server)


async def _pin(asked: _Asked) -> Pin:
    """What the server says of itself. Raises ServerStartError."""
    if asked.pin is None:
        asked.pin = await probe(_launch(asked))
    return asked.pin


def _catalogue(line: ToolCheck | SchemaCheck | CapabilityCheck, pin: Pin, done: LineResult) -> LineResult:
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
        case CapabilityCheck():
            declared = line.capability in pin.info.capabilities
            if line.state == "optional" or declared == (line.state == "required"):
                return done
            actual = "declared" if declared else "not declared"
            return replace(done, state="fail", actual=actual, expected=line.state)


async def _protocol(asked: _Asked, line: ProtocolCheck, done: LineResult) -> LineResult:
    """Whether the server speaks this revision when it is offered no other."""
    try:
        pin = await probe(replace(_launch(asked), protocols=(line.revision,)))
        spoken, said = pin.revision == line.revision, f"it answers with {pin.revision}"
    except ServerStartError as error:
        if error.kind != "unsupported_revision" or error.message.startswith("no known protocol revision"):
            raise
        spoken, said = False, error.message
    if spoken == (line.state == "supported"):
        return done
    return replace(done, state="fail", actual="supported" if spoken else said, expected=line.state)


def _what(line: CheckLine) -> str:
    match line:
        case CallStep():
            return f"{line.call.server}.{line.call.tool}"
        case ToolCheck():
            return f"tool {line.tool} {'present' if line.present else 'absent'}"
        case SchemaCheck():
            return "schema valid"
        case CapabilityCheck():
            return f"capability {line.capability} {line.state}"
        case ProtocolCheck():
            return f'protocol "{line.revision}" {line.state}'


__all__ = ["LineResult", "State", "class_of", "run_check", "said_of"]
