"""Inside a host: asks the driver for a turn under the trial's time limit and keeps what was said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from mcpeval_dsl.agents.hosts.limits import Limits
from mcpeval_dsl.agents.hosts.offer import Offer
from mcpeval_dsl.agents.model import (
    Assignment,
    Driver,
    Message,
    ToolAnswer,
    Turn,
    TurnRecord,
    TurnRequest,
)
from mcpeval_dsl.agents.waiting import clock_in_force


class OutOfTime(Exception):
    """The trial's own time was used up in the middle of a turn."""


class TurnTaker:
    """One trial's turns. `kept` is the transcript so far."""

    def __init__(self, assignment: Assignment, driver: Driver, system: str, offer: Offer, limits: Limits) -> None:
        self._assignment = assignment
        self._driver = driver
        self._system = system
        self._offer = offer
        self._limits = limits
        self._at_ms = 0.0
        self._duration_ms = 0.0
        self._usage_now = limits.usage
        self.kept: list[TurnRecord] = []

    @contextmanager
    def clock_in_force(self) -> Iterator[None]:
        with clock_in_force(self._limits.waits):
            yield

    def waited_ms(self) -> float:
        return self._limits.waits.seconds() * 1000.0

    async def take(self, messages: list[Message]) -> Turn:
        """One turn. Raises ModelApiError as the driver does, OutOfTime when the time limit passes meanwhile."""
        request = TurnRequest(
            self._system, tuple(messages), self._offer.wire, self._assignment.settings, self._assignment.context
        )
        self._at_ms = self._limits.elapsed_ms()
        turn = await self._in_time(request)
        self._duration_ms = turn.duration_ms or self._limits.elapsed_ms() - self._at_ms
        self._usage_now = self._limits.count(turn.usage)
        return turn

    async def _in_time(self, request: TurnRequest) -> Turn:
        if self._assignment.time_limit is None:
            return await self._driver.turn(request)
        asking = asyncio.ensure_future(self._driver.turn(request))
        try:
            while not asking.done():
                left = self._limits.seconds_left() or 0.0
                if left <= 0:
                    raise OutOfTime
                # A wait for the API may have begun meanwhile: then time is left when this returns, and it goes on.
                await asyncio.wait({asking}, timeout=max(left, 0.001))
            return asking.result()
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking})

    def keep(self, turn: Turn, answers: tuple[ToolAnswer, ...]) -> None:
        """Adds the turn just taken to the transcript, with what the model was told."""
        self.kept.append(
            TurnRecord(
                number=self._limits.turns,
                text=turn.message.text,
                requests=turn.message.requests,
                answers=answers,
                stop=turn.stop,
                usage=self._usage_now,
                model=turn.model,
                at_ms=self._at_ms,
                duration_ms=self._duration_ms,
                waited_ms=turn.waited_ms,
                retries=turn.retries,
            )
        )
