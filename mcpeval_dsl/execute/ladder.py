"""Execution, after a run: how often must a call fail again, and with how much before it, to be called a defect?

`climb` decides and starts nothing: it asks for attempts, each in a fresh environment of its own. Three of three and then
ten of ten are a defect; the shortest prefix that fails three times of three counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from mcpeval_dsl.records.defects import DefectStatus

FIRST, WHOLE = 3, 10
SPARE = 3
"""Attempts beyond those asked for, in place of ones that do not count."""

Outcome = Literal["fails", "passes", "later", "invalid", "limit"]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Attempt:
    """`later`: it failed at once and passed after the consistency window. `limit`: our own limit ended the server.

    `invalid` says nothing about the server; `infrastructure` where that was for want of something of ours.
    """

    outcome: Outcome
    reason: str = ""
    infrastructure: bool = False


@dataclass(frozen=True, slots=True)
class Judged(Generic[R]):
    """What the attempts came to; `failed` of `counted` on the rung that decided (None where none counted)."""

    status: DefectStatus
    rung: R | None
    failed: int = 0
    counted: int = 0
    reason: str = ""
    infrastructure: bool = False


Attempting = Callable[[R, int], Awaitable[Sequence[Attempt]]]


async def climb(rungs: Sequence[R], attempt: Attempting[R]) -> Judged[R]:
    """From the shortest slice to the longest until one decides. `attempt(rung, n)` makes n attempts."""
    mixed: Judged[R] | None = None
    passed: Judged[R] | None = None
    last: Judged[R] = Judged("unconfirmed", None, reason="there was nothing to replay")
    for rung in rungs:
        tries = await _counted(rung, FIRST, attempt, ())
        judged = _first(rung, tries)
        if judged is None:
            judged = _whole(rung, await _counted(rung, WHOLE, attempt, tries))
        if judged.status in ("confirmed", "eventual", "resource_limit"):
            return judged
        if judged.status == "flaky" and (mixed is None or judged.counted > mixed.counted):
            mixed = judged
        elif judged.status == "not_reproduced":
            passed = judged
        else:
            last = judged
    return mixed or passed or last


async def _counted(rung: R, wanted: int, attempt: Attempting[R], made: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Attempts until `wanted` of them count, with some to spare; none more where not one of a whole batch does."""
    tries = list(made)
    spare = SPARE
    while (missing := wanted - _number(tries)) > 0:
        batch = await attempt(rung, missing)
        tries.extend(batch)
        lost = sum(item.outcome == "invalid" for item in batch)
        spare -= lost
        if spare < 0 or _number(tries) == 0:
            break
    return tuple(tries)


def _number(tries: Sequence[Attempt]) -> int:
    return sum(item.outcome != "invalid" for item in tries)


def _first(rung: R, tries: Sequence[Attempt]) -> Judged[R] | None:
    """What the first attempts decide; None where they all failed alike."""
    failed, counted = _failed(tries), _number(tries)
    limit = next((item for item in tries if item.outcome == "limit"), None)
    if limit is not None:
        return Judged("resource_limit", rung, failed, counted, limit.reason)
    if counted < FIRST:
        lost = [item for item in tries if item.outcome == "invalid"]
        reason = lost[0].reason if lost else ""
        return Judged("unconfirmed", rung, failed, counted, reason, any(item.infrastructure for item in lost))
    if failed == 0:
        return Judged("not_reproduced", rung, 0, counted)
    if failed < counted:
        return Judged("flaky", rung, failed, counted)
    if all(item.outcome == "later" for item in tries if item.outcome != "invalid"):
        return Judged("eventual", rung, failed, counted, tries[0].reason)
    return None


def _whole(rung: R, tries: Sequence[Attempt]) -> Judged[R]:
    failed, counted = _failed(tries), _number(tries)
    limit = next((item for item in tries if item.outcome == "limit"), None)
    if limit is not None:
        return Judged("resource_limit", rung, failed, counted, limit.reason)
    if counted < WHOLE:
        lost = [item for item in tries if item.outcome == "invalid"]
        status: DefectStatus = "unconfirmed" if failed == counted else "flaky"
        return Judged(status, rung, failed, counted, lost[0].reason, any(item.infrastructure for item in lost))
    return Judged("confirmed" if failed == counted else "flaky", rung, failed, counted)


def _failed(tries: Sequence[Attempt]) -> int:
    return sum(item.outcome in ("fails", "later") for item in tries)
