"""Whether a tool that calls itself read-only keeps state in its process, where no comparison of files sees it.

Each such call is made twice in a fresh session, and so in a second one. Where both sessions answer the first time alike
and the second time alike, but not the first like the second, the first call changed something. A clock or chance does
not look like that: it would not repeat itself from session to session.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, Violation

MOST_SECONDS = 30.0
"""No call is begun after so long: a server that needs longer for its answers is only looked at in part."""

MOST_TOOLS = 8


@dataclass(frozen=True, slots=True)
class Repeated:
    """`left`: tools whose calls there was no time to repeat."""

    violations: tuple[Violation, ...] = ()
    left: tuple[str, ...] = ()


def repeats(number: int) -> bool:
    """Whether trial `number` (from 1) of its cell is one in which calls are repeated: 1, 2, 4, 8 and so on.

    Decided by the plan alone, so that a run that was interrupted repeats the same calls as any other; the cost grows
    with the logarithm of the trials.
    """
    return number & (number - 1) == 0


async def hidden_state(world: World, calls: Iterable[CallRecord]) -> Repeated:
    """Violations of tools that only their own hint calls read-only; one call of each tool is tried."""
    found: list[Violation] = []
    left: list[str] = []
    until = time.monotonic() + MOST_SECONDS
    by_server: dict[str, list[CallRecord]] = {}
    for call in _candidates(world, list(calls)):
        by_server.setdefault(call.server, []).append(call)
    for chosen in by_server.values():
        first, second = await _twice(world, chosen, until), await _twice(world, chosen, until)
        for call, one, other in zip(chosen, first, second, strict=True):
            if one is None or other is None:
                left.append(f"{call.server}.{call.tool}")
            elif None not in (*one, *other) and one == other and one[0] != one[1]:
                found.append(_violation(call))
    return Repeated(tuple(found), tuple(left))


def _violation(call: CallRecord) -> Violation:
    said = f"{call.server}.{call.tool}, read-only according to its hint: equal calls of a fresh session differ"
    stages = ("attempted", "executed", "effect")
    return Violation("hidden_state", "major", stages, call.id, f"{said} in the same way twice")


def _candidates(world: World, calls: Sequence[CallRecord]) -> list[CallRecord]:
    """One answered call of each tool of servers that were only read from, and that may be started afresh."""
    if not world.disposable:
        return []
    done: set[tuple[str, str]] = set()
    executed = [call for call in calls if call.actor == "agent" and call.permission.decision == "allowed"]
    written = {call.server for call in executed if call.permission.effect != "readonly"}
    found: list[CallRecord] = []
    for call in executed:
        hinted = call.permission.effect == "readonly" and call.permission.source == "hint"
        fit = hinted and call.error is None and not call.distractor
        if fit and call.server not in written and (call.server, call.tool) not in done and len(found) < MOST_TOOLS:
            done.add((call.server, call.tool))
            found.append(call)
    return found


async def _twice(world: World, calls: Sequence[CallRecord], until: float) -> list[tuple[Any, Any] | None]:
    """Answers to each call made twice in one fresh session, None in place of one that failed; None where time was up."""
    await world.end_sessions()
    found: list[tuple[Any, Any] | None] = []
    for call in calls:
        in_time = time.monotonic() < until
        found.append((await _answer(world, call), await _answer(world, call)) if in_time else None)
    return found


async def _answer(world: World, call: CallRecord) -> Any:
    record = await world.gateway.call("probe", call.server, call.tool, call.arguments)
    if record.error is not None or record.is_error:
        return None
    return [record.text, record.structured]
