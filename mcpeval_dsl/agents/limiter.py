"""Beside the drivers: how many requests one model gets at a time. Grows slowly, halves when the provider says so.

Additive increase, multiplicative decrease (Chiu and Jain 1989). One object for each (account, model), shared by all trials
of one event loop; a slot is held only while a request is on its way.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcpeval_dsl.agents.waiting import waiting


class AdaptiveLimiter:
    """`limit` is the number of requests allowed at once, at least 1. Waits are booked on the wait clock in force."""

    def __init__(self, start: int = 4, most: int = 256) -> None:
        self.limit = float(max(start, 1))
        self._most = float(most)
        self._in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._halved_at = 0.0

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Holds a slot; gives the monotonic time the request began, to be handed to `slow_down`."""
        await self._enter()
        try:
            yield time.monotonic()
        finally:
            self._in_flight -= 1
            self._wake()

    async def _enter(self) -> None:
        pause = self._paused_until - time.monotonic()
        if pause <= 0 and not self._queue and self._in_flight < int(self.limit):
            self._in_flight += 1
            return
        with waiting():
            if pause > 0:
                await asyncio.sleep(pause)
            if not self._queue and self._in_flight < int(self.limit):
                self._in_flight += 1
                return
            turn = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    # The slot was given in the same moment: hand it on.
                    self._in_flight -= 1
                    self._wake()
                raise

    def _wake(self) -> None:
        """Gives free slots to those who wait longest."""
        while self._queue and self._in_flight < int(self.limit):
            turn = self._queue.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """One request went well: about one more at a time after as many successes as the limit."""
        self.limit = min(self.limit + 1.0 / self.limit, self._most)
        self._wake()

    def slow_down(self, began: float, retry_after: float | None = None) -> None:
        """429 or 529 for a request that began at `began`: halves once for all that were on their way together."""
        now = time.monotonic()
        if retry_after is not None:
            self._paused_until = max(self._paused_until, now + min(retry_after, 60.0))
        if began >= self._halved_at:
            self.limit = max(self.limit / 2.0, 1.0)
            self._halved_at = now
