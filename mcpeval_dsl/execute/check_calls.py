"""Execution, without a model: the calls of a check, with what is required of them, and how long many of them take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from mcpeval_dsl.execute.check_lines import (
    LineResult,
    after_call,
    class_of,
    milliseconds,
    required,
    said_of,
    what,
    with_headers,
)
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.reading import with_readings
from mcpeval_dsl.execute.remote import is_remote
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.talking import talk
from mcpeval_dsl.semantics.checks import LatencyCheck
from mcpeval_dsl.semantics.expressions import CallStep, Ref
from mcpeval_dsl.semantics.model import Check, Server
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.sources import arguments_of

DENIED = "it may write, and the server is not disposable: allow it with --allow-writes"


@dataclass(slots=True)
class Asked:
    """One check being carried out. What its server says of itself is asked at most once; `last` is the latest call."""

    context: RunContext
    check: Check
    world: World
    last: CallStep | None = None
    _pin: Pin | None = None

    def server(self) -> Server:
        """Raises EvaluationError."""
        found = self.context.server_of(self.check.server, self.world.cell)
        if found is None:
            raise EvaluationError(f"there is no server `{self.check.server}`")
        return found

    def launch(self) -> Launch:
        """Raises EvaluationError."""
        return self.world.launch_of(self.server())

    async def pin(self) -> Pin:
        """Raises ServerStartError, EvaluationError."""
        if self._pin is None:
            self._pin = await probe(self.launch())
        return self._pin

    async def pin_or_none(self) -> Pin | None:
        """For questions that need no session. Raises EvaluationError."""
        try:
            return await self.pin()
        except ServerStartError:
            return None


def permitted(asked: Asked, server: Server) -> bool:
    """Whether a call that may write may be made: by the operator's word, or since nothing of it stays."""
    return asked.context.settings.allow_writes or (asked.world.disposable and not is_remote(server))


async def call(asked: Asked, step: CallStep, done: LineResult) -> LineResult:
    """A call without requirements leads up to others: when it fails, nothing is known of the server's rules."""
    world = asked.world
    asked.last = step
    server = asked.context.server_of(step.call.server, world.cell)
    if server is None:
        return replace(done, state="not tested", reason=f"there is no server `{step.call.server}`")
    await world.gateway.open([server.name])
    record, scope = await _made(asked, step, server)
    if record.permission.decision == "denied":
        return replace(done, state="not tested", reason=DENIED)
    after = [*(requirement.condition for requirement in step.requires), *(entry.value for entry in step.bindings)]
    answered = with_headers(after_call(record, scope, server.url is not None), step.requires)
    inner = await with_readings(after, answered, world.reader("probe"))
    failed = class_of(record) != "none"
    if not step.requires and failed:
        return replace(done, state="not tested", reason=f"the call failed: {said_of(record)}")
    done = required(done, step.requires, inner, said_of(record) if failed else "")
    if done.state == "fail":
        return done
    bound: dict[str, Any] = {}
    for entry in step.bindings:
        bound[entry.key] = evaluate(entry.value, extended(inner, **bound))
    if step.name is not None:
        world.names.values[step.name] = bound if step.bindings else inner.subject
    return done


async def _made(asked: Asked, step: CallStep, server: Server) -> tuple[CallRecord, Scope]:
    """Raises EvaluationError."""
    world = asked.world
    scope = await with_readings(
        [entry.value for entry in step.call.arguments], world.names.scope(), world.reader("probe")
    )
    permit = permitted(asked, server)
    arguments = arguments_of(step.call.arguments, scope)
    return await world.gateway.call("probe", server.name, step.call.tool, arguments, permit=permit), scope


FEWEST_FOR_P95 = 20
"""Of fewer calls the 95th percentile says no more than the longest one, so that it is told only where it is asked for."""


async def latency(asked: Asked, line: LatencyCheck, done: LineResult) -> LineResult:
    """One call after the other in one session; the first, which opens it, is not counted.

    Raises ServerStartError, EvaluationError.
    """
    found = await _listed(asked, line.calls) if asked.last is None else await _repeated(asked, asked.last, line.calls)
    if isinstance(found, str):
        return replace(done, state="not tested", reason=found)
    ordered = sorted(found)
    parts = {
        "mean": sum(found) / len(found),
        "p50": _quantile(ordered, 0.5),
        "p95": _quantile(ordered, 0.95),
        "max": ordered[-1],
    }
    asks = line.condition.left.path[-1] if isinstance(line.condition.left, Ref) else ""
    if asks != "p95" and line.calls < FEWEST_FOR_P95:
        del parts["p95"]
    if asked.last is not None:
        done = replace(done, what=f"latency {asks} of {what(asked.last)} over {line.calls} calls")
    done = replace(done, measured={name: round(value, 3) for name, value in parts.items()})
    scope = extended(Scope({}), latency={name: value / 1000.0 for name, value in parts.items()})
    result = condition(line.condition, scope)
    if result.holds:
        return done
    shown = ", ".join(f"{name} {value:.4g} ms" for name, value in parts.items())
    return replace(done, state="fail", actual=shown, expected=milliseconds(result.expected))


async def _repeated(asked: Asked, step: CallStep, number: int) -> list[float] | str:
    """Milliseconds of each call; a call that ends otherwise than the first is no measurement."""
    server = asked.context.server_of(step.call.server, asked.world.cell)
    if server is None:
        return f"there is no server `{step.call.server}`"
    await asked.world.gateway.open([server.name])
    first, _ = await _made(asked, step, server)
    if first.permission.decision == "denied":
        return DENIED
    found: list[float] = []
    for count in range(1, number + 1):
        record, _ = await _made(asked, step, server)
        if class_of(record) != class_of(first):
            return f"call {count} of {number} ended otherwise than the first: {said_of(record)}"
        found.append(record.duration_ms)
    return found


async def _listed(asked: Asked, number: int) -> list[float] | str:
    """Milliseconds of each list of tools, as of a server whose tools nothing is known of."""
    found: list[float] = []
    async with talk(asked.launch(), await asked.pin()) as conversation:
        begun = await conversation.begin()
        if begun.result is None:
            return begun.said()
        await conversation.ask("tools/list")
        for _ in range(number):
            since = time.monotonic()
            reply = await conversation.ask("tools/list")
            if reply.result is None:
                return reply.said()
            found.append((time.monotonic() - since) * 1000.0)
    return found


def _quantile(ordered: list[float], share: float) -> float:
    """Linear between neighbours, as the scorecard's (type 7 of Hyndman and Fan)."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


__all__ = ["Asked", "call", "latency", "permitted"]
