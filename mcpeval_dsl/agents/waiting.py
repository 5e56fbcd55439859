"""Beside every turn: how long a trial has waited for others (rate limits, queues), which is not the agent's time.

A host sets the clock in force; retry and limiter report to it. Without one in force, waits are just not counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class WaitClock:
    """Seconds waited so far, waits under way included."""

    __slots__ = ("_done", "_since")

    def __init__(self) -> None:
        self._done = 0.0
        self._since: float | None = None

    def seconds(self) -> float:
        return self._done + (time.monotonic() - self._since if self._since is not None else 0.0)

    def add(self, seconds: float) -> None:
        """Books a wait that was not lived through (a scripted one)."""
        self._done += seconds

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time of the block once, also when nested."""
        if self._since is not None:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._done += time.monotonic() - self._since
            self._since = None


_IN_FORCE: ContextVar[WaitClock | None] = ContextVar("wait_clock", default=None)


@contextmanager
def clock_in_force(clock: WaitClock) -> Iterator[WaitClock]:
    """Makes `clock` the one that waits of this task (and tasks it starts) are booked on."""
    token = _IN_FORCE.set(clock)
    try:
        yield clock
    finally:
        _IN_FORCE.reset(token)


@contextmanager
def waiting() -> Iterator[None]:
    """Marks the block as time spent waiting for others."""
    clock = _IN_FORCE.get()
    if clock is None:
        yield
        return
    with clock.running():
        yield


def waited(seconds: float) -> None:
    """Books `seconds` as waited without having waited them."""
    clock = _IN_FORCE.get()
    if clock is not None:
        clock.add(seconds)
