"""Broken answers that do not say whose they are: which requests are given up for them, and when.

Place in the pipeline: a part of the wire log. Each broken answer stands for one of the requests that waited when it came. As
soon as no more of those wait than there were broken answers, all that are left have had theirs: unless a good answer came in
between, for then the broken one may have been noise before that, and a slow request is given more time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpeval_dsl.gateway.ticket import Ticket

DOUBT_SECONDS = 0.5
"""How long those who can only have got a broken answer still wait for a good one."""

CHOICE_SECONDS = 5.0
"""The same where a good answer came in between: so long there must be silence."""

MOST = 64


@dataclass(slots=True)
class _Doubt:
    waiting: frozenset[str]
    reason: str
    raw: str
    mixed: bool = False


class Doubts:
    """One session's. `pending` are the requests that wait, by id; `give_up` ends one of them."""

    def __init__(self, pending: Mapping[str, Ticket], give_up: Callable[[Ticket, str, str], None]) -> None:
        self._pending = pending
        self._give_up = give_up
        self._open: list[_Doubt] = []
        self._heard = 0.0

    def add(self, reason: str, raw: str) -> None:
        """Something came that looks like an answer and is none."""
        if self._pending and len(self._open) < MOST:
            self._open.append(_Doubt(frozenset(self._pending), reason, raw))
            self._later(DOUBT_SECONDS)

    def answered(self) -> None:
        """A good answer came: there are fewer to choose from."""
        if self._open:
            for doubt in self._open:
                doubt.mixed = True
            self._later(CHOICE_SECONDS)

    def _later(self, seconds: float) -> None:
        self._heard = time.monotonic()
        asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """The times of the last thing heard count: whatever came since has its own look."""
        self._open = [doubt for doubt in self._open if not doubt.waiting.isdisjoint(self._pending)]
        silence = time.monotonic() - self._heard
        for doubt in list(self._open):
            left = [ticket for identity, ticket in self._pending.items() if identity in doubt.waiting]
            alike = sum(not other.waiting.isdisjoint(doubt.waiting) for other in self._open)
            if len(left) <= alike and silence >= 0.9 * (CHOICE_SECONDS if doubt.mixed else DOUBT_SECONDS):
                for ticket in left:
                    self._give_up(ticket, doubt.reason, doubt.raw)
