"""Whether a tool that calls itself read-only keeps state in its process, where no comparison of files sees it.

Each such call is made twice in a fresh session, and so in a second one. Where both sessions answer the first time alike
and the second time alike, but not the first like the second, the first call changed something. A clock or chance does
not look like that: it would not repeat itself from session to session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, Violation

SLOW_MS = 5_000.0
QUICK_MS = 200.0
QUICK_START_MS = 1_500.0
"""What is repeated in every trial: calls this quick, of servers that were there this soon (all of a trial's start)."""

MOST_TOOLS = 8


async def hidden_state(world: World, calls: Iterable[CallRecord], slowest: float = SLOW_MS) -> list[Violation]:
    """Violations of tools that only their own hint calls read-only; one call of each tool is tried, if it took less than
    `slowest` milliseconds."""
    found: list[Violation] = []
    by_server: dict[str, list[CallRecord]] = {}
    for call in _candidates(world, list(calls), slowest):
        by_server.setdefault(call.server, []).append(call)
    for chosen in by_server.values():
        first, second = await _twice(world, chosen), await _twice(world, chosen)
        for call, one, other in zip(chosen, first, second, strict=True):
            if None not in (*one, *other) and one == other and one[0] != one[1]:
                detail = (
                    f"{call.server}.{call.tool}, read-only according to its hint: equal calls of a fresh session differ"
                )
                violation = Violation(
                    "hidden_state",
                    "major",
                    ("attempted", "executed", "effect"),
                    call.id,
                    f"{detail} in the same way twice",
                )
                found.append(violation)
    return found


def _candidates(world: World, calls: Sequence[CallRecord], slowest: float) -> list[CallRecord]:
    """One answered call of each tool of servers that were only read from, and that may be started afresh."""
    if not world.disposable:
        return []
    done: set[tuple[str, str]] = set()
    executed = [call for call in calls if call.actor == "agent" and call.permission.decision == "allowed"]
    written = {call.server for call in executed if call.permission.effect != "readonly"}
    found: list[CallRecord] = []
    for call in executed:
        hinted = call.permission.effect == "readonly" and call.permission.source == "hint"
        fit = hinted and call.error is None and not call.distractor and call.duration_ms < slowest
        if fit and call.server not in written and (call.server, call.tool) not in done and len(found) < MOST_TOOLS:
            done.add((call.server, call.tool))
            found.append(call)
    return found


async def _twice(world: World, calls: Sequence[CallRecord]) -> list[tuple[Any, Any]]:
    """Answers to each call made twice in one fresh session; None for one that failed."""
    await world.end_sessions()
    return [(await _answer(world, call), await _answer(world, call)) for call in calls]


async def _answer(world: World, call: CallRecord) -> Any:
    record = await world.gateway.call("probe", call.server, call.tool, call.arguments)
    if record.error is not None or record.is_error:
        return None
    return [record.text, record.structured]
