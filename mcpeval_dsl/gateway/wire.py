"""What is on the wire of one session: tickets for requests under way, frames kept, and how a request ended.

Place in the pipeline: below sessions; the transports write here, sessions and error classes read from here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcpeval_dsl.gateway.doubts import Doubts
from mcpeval_dsl.gateway.model import Frame
from mcpeval_dsl.gateway.ticket import CURRENT, RawMessage, Ticket

Clock = Callable[[], float]
"""Milliseconds since the trial began, monotonic."""

Ending = Literal["result", "rpc_error", "malformed", "timeout", "dead", "http_error"]

CHATTER_SECONDS = 5.0
"""After plain text on the wire: servers print there and go on working, so it takes longer until they are given up."""

MOST_CHATTER = 10_000
"""Lines of text during one request, from which a server is taken to speak no protocol any more."""

FRAME_BYTES = 8 * 1024 * 1024
FRAME_COUNT = 5_000
RAW_EXCERPT = 2_000
PROTOCOL_KEYS = "io.modelcontextprotocol/"
DECLARED = "io.modelcontextprotocol/clientCapabilities"


def monotonic_clock() -> Clock:
    """A clock that starts now."""
    begin = time.monotonic()
    return lambda: (time.monotonic() - begin) * 1000.0


@dataclass(frozen=True, slots=True)
class WireResult:
    """How one request ended, as the wire said it, before any judgement.

    `result` is the JSON-RPC result where there was one. `code`, `message` and `data` belong to a JSON-RPC error, or say
    what was wrong. `size` is bytes of the answer, `sha256` its hash where it is large, `cut` True where only its ends were
    kept, `limit` which limit of ours a dead process had reached, `cancelled` True where a cancel was sent.
    """

    ending: Ending
    result: Mapping[str, Any] | None = None
    code: int | None = None
    message: str = ""
    data: Any = None
    raw: str | None = None
    size: int = 0
    sha256: str = ""
    cut: bool = False
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    exit_code: int | None = None
    stderr_tail: str = ""
    limit: str | None = None
    cancelled: bool = False
    duration_ms: float = 0.0


class WireNoise(Exception):
    """Something received that is no message. `request_id` where the text still tells which request it meant to answer.

    `chatter`: words for people, such as a log has, in no way an answer.
    """

    def __init__(self, reason: str, raw: str, request_id: str | None = None, *, chatter: bool = False) -> None:
        super().__init__(reason)
        self.chatter = chatter or (raw.lstrip()[:1] not in ("{", "[") and raw.isprintable())
        self.reason = reason
        self.raw = raw
        self.request_id = request_id


class WireLog:
    """Frames of one session, bounded in bytes, and its open tickets.

    `noise` counts what was no message; `chatty` is True once a good answer came after text: this server prints on its output.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.frames: deque[Frame] = deque()
        self.dropped = 0
        self.noise = 0
        self.noise_excerpt = ""
        self.notifications = 0
        self.catalogue_changed = False
        self.closed = False
        self.declared: Mapping[str, Any] | None = None
        self.chatty = False
        self.beside: Mapping[str, Any] | None = None
        self._issued: set[str] = set()
        self.pending: dict[str, Ticket] = {}
        self.doubts = Doubts(self.pending, self._give_up)
        self._sizes: deque[int] = deque()
        self._kept = 0

    def sent(self, body: Mapping[str, Any]) -> None:
        """Note a message of ours; a request takes the ticket of the task that sends it."""
        identity = body.get("id")
        method = body.get("method")
        ticket = CURRENT.get()
        if identity is not None and (self.declared is None or self.beside is None):
            self._learn(str(method), body.get("params"))
        if method == "notifications/cancelled":
            cancelled = self.pending.get(str((body.get("params") or {}).get("requestId")))
            if cancelled is not None:
                cancelled.cancel_sent = True
        elif identity is not None and method is not None and ticket is not None:
            ticket.request_id = str(identity)
            ticket.response = None
            self.pending[ticket.request_id] = ticket
            self._issued.add(ticket.request_id)
        self.keep(Frame("sent", self.clock(), body), 0)

    def answered(self, body: Mapping[str, Any], raw: RawMessage) -> bool:
        """Give a response to its ticket; whether the SDK waits for it."""
        self.keep(Frame("received", self.clock(), body), raw.size)
        ticket = self.pending.pop(str(body.get("id")), None)
        if ticket is None:
            if not self._was_ours(body.get("id")):
                reason = f"an answer with the id {str(body.get('id'))[:60]!r}, which no request has"
                self.doubts.add(reason, str(body)[:RAW_EXCERPT])
            return False
        self.doubts.answered()
        ticket.response = body
        raw = ticket.measured or raw
        ticket.size, ticket.sha256, ticket.cut = raw.size, raw.sha256, raw.cut
        self.chatty = self.chatty or ticket.chatter > 0
        ticket.wake()
        return ticket.woken is None

    def _was_ours(self, identity: Any) -> bool:
        """Whether a request had this id: its answer comes twice, or after it was given up."""
        return str(identity) in self._issued

    def _learn(self, method: str, parameters: Any) -> None:
        """What we declare, and what the SDK puts beside the parameters of every request after the handshake."""
        self.declared = self.declared if self.declared is not None else _capabilities_in(parameters)
        if method not in ("initialize", "server/discover"):
            beside = parameters.get("_meta") if isinstance(parameters, Mapping) else None
            self.beside = {key: value for key, value in (beside or {}).items() if key.startswith(PROTOCOL_KEYS)}

    def close(self) -> None:
        """The transport has ended: nobody waits any longer."""
        self.closed = True
        for ticket in self.pending.values():
            ticket.wake()

    def requested(self, body: Mapping[str, Any], size: int) -> None:
        """Keep a request of the server (elicitation, ping)."""
        self.keep(Frame("received", self.clock(), body), size)

    def notified(self, body: Mapping[str, Any], size: int) -> None:
        """Take a notification: progress keeps its request alive, a changed list is remembered."""
        self.notifications += 1
        self.keep(Frame("received", self.clock(), body), size)
        method = body.get("method")
        if method == "notifications/tools/list_changed":
            self.catalogue_changed = True
        elif method == "notifications/progress":
            params = body.get("params")
            ticket = self.pending.get(str(params.get("progressToken"))) if isinstance(params, Mapping) else None
            if ticket is not None:
                ticket.touched = time.monotonic()
                if ticket.progress is not None and isinstance(params, Mapping):
                    ticket.progress(params)

    def disturbed(self, noise: WireNoise) -> str | None:
        """Count noise; the id of the request of the SDK that it spoils, if there is one."""
        self.noise += 1
        self.noise_excerpt = noise.raw[:RAW_EXCERPT]
        self.keep(Frame("received", self.clock(), None, raw=noise.raw[:RAW_EXCERPT]), len(noise.raw[:RAW_EXCERPT]))
        if noise.request_id is None:
            self._unaddressed(noise)
            return None
        ticket = self.pending.pop(noise.request_id, None)
        if ticket is None:
            if not self._was_ours(noise.request_id):
                self.doubts.add(noise.reason, noise.raw)
            return None
        ticket.broken = noise.reason
        ticket.raw = noise.raw[:RAW_EXCERPT]
        ticket.wake()
        return None if ticket.woken is not None else noise.request_id

    def only(self) -> str | None:
        """Id of the request that waits, where it is the only one: what is addressed to nobody can only be meant for it."""
        return next(iter(self.pending)) if len(self.pending) == 1 else None

    def _unaddressed(self, noise: WireNoise) -> None:
        if not noise.chatter:
            self.doubts.add(noise.reason, noise.raw)
        elif not self.chatty:
            for ticket in list(self.pending.values()):
                if ticket.method in ("tools/call", "resources/read"):
                    self._chattered(ticket, noise)

    def _chattered(self, ticket: Ticket, noise: WireNoise) -> None:
        ticket.chatter += 1
        ticket.quiet_from = time.monotonic()
        if ticket.chatter == 1:
            asyncio.get_running_loop().call_later(CHATTER_SECONDS, self._still_chatter, ticket, noise.raw)
        elif ticket.chatter == MOST_CHATTER:
            self._give_up(ticket, f"{MOST_CHATTER} lines that are no messages instead of an answer", noise.raw)

    def _still_chatter(self, ticket: Ticket, raw: str) -> None:
        if self.chatty:
            return
        quiet = time.monotonic() - max(ticket.quiet_from, ticket.touched)
        if quiet < CHATTER_SECONDS:
            asyncio.get_running_loop().call_later(CHATTER_SECONDS - quiet, self._still_chatter, ticket, raw)
        else:
            lines = (
                "a line that is no message" if ticket.chatter == 1 else f"{ticket.chatter} lines that are no messages"
            )
            self._give_up(ticket, f"{lines}, then nothing for {CHATTER_SECONDS:g} s", raw)

    def _give_up(self, ticket: Ticket, reason: str, raw: str) -> None:
        if ticket.request_id is None or self.pending.get(ticket.request_id) is not ticket or ticket.give_up is None:
            return
        ticket.broken, ticket.raw = reason, raw[:RAW_EXCERPT]
        ticket.give_up()

    def keep(self, frame: Frame, size: int) -> None:
        self.frames.append(frame)
        self._sizes.append(size)
        self._kept += size
        while len(self.frames) > 1 and (self._kept > FRAME_BYTES or len(self.frames) > FRAME_COUNT):
            self.frames.popleft()
            self._kept -= self._sizes.popleft()
            self.dropped += 1


def _capabilities_in(parameters: Any) -> Mapping[str, Any] | None:
    """What a request of ours declares that we can do: in its parameters in the older era, beside them in the newer."""
    if not isinstance(parameters, Mapping):
        return None
    beside = parameters.get("_meta")
    known = beside.get(DECLARED) if isinstance(beside, Mapping) else None
    known = parameters.get("capabilities") if known is None else known
    return dict(known) if isinstance(known, Mapping) else None


def number_of(identity: str) -> int | str:
    """A request's id as it was sent: ours are numbers."""
    return int(identity) if identity.lstrip("-").isdigit() else identity


def json_size(value: Any) -> int:
    """Bytes of a value as compact JSON; for transports that do not tell the size of a message."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace"))
