"""One request under way, shared by the session that asks and the transport that carries it. Below `wire`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.gateway.passing import Progress


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A JSON object as it came, with its size in bytes; `sha256` of a large one, `cut` where only its ends are left."""

    body: dict[str, Any]
    size: int
    sha256: str = ""
    cut: bool = False


@dataclass(slots=True)
class Ticket:
    """One logical request from asking to answer; shared by the session and both directions of its transport."""

    method: str
    request_id: str | None = None
    response: Mapping[str, Any] | None = None
    broken: str | None = None
    raw: str | None = None
    size: int = 0
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    touched: float = 0.0
    cancel_sent: bool = False
    peer_error: bool = False
    sha256: str = ""
    cut: bool = False
    chatter: int = 0
    quiet_from: float = 0.0
    give_up: Callable[[], object] | None = None
    measured: RawMessage | None = None
    progress: Progress | None = None
    woken: asyncio.Future[None] | None = None
    looking: bool = False

    def wake(self) -> None:
        """Let the one who waits for this ticket go on, where that is not the SDK."""
        if self.woken is not None and not self.woken.done():
            self.woken.set_result(None)

    def wake_to_look(self) -> None:
        """As `wake`, to look at the time only."""
        if self.woken is not None and not self.woken.done():
            self.looking = True
            self.woken.set_result(None)


CURRENT: ContextVar[Ticket | None] = ContextVar("mcpe_ticket", default=None)
