"""Ctrl-C: the first finishes what is in flight and saves, the second stops now and saves, the third leaves at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopRequest:
    """Set by signals (or a caller); the scheduler looks at it."""

    def __init__(self) -> None:
        self.draining = asyncio.Event()
        self.now = asyncio.Event()
        self.on_change: Callable[[str], None] | None = None

    @property
    def asked(self) -> bool:
        return self.draining.is_set()

    def ask(self) -> None:
        """One more wish to stop."""
        if self.now.is_set():
            os._exit(130)
        if self.draining.is_set():
            self.now.set()
            how = "now"
        else:
            self.draining.set()
            how = "drain"
        if self.on_change is not None:
            self.on_change(how)


@contextmanager
def signals_to(stop: StopRequest) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP ask `stop` while the block runs."""
    loop = asyncio.get_running_loop()
    caught = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in caught:
        loop.add_signal_handler(number, stop.ask)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
