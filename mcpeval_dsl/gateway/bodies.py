"""Bodies of HTTP answers, bounded and checked as lines of a pipe are, before the SDK reads them.

Place in the pipeline: between the HTTP client and the SDK. The SDK reads a whole body into memory, takes NaN for a number and
replaces what it cannot read by an error of its own; here a body above the limit becomes a result cut to its ends, and one that
is no message becomes an error that says why.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import httpx2

from mcpeval_dsl.gateway.framing import of_oversize, parse_line
from mcpeval_dsl.gateway.lines import Gathering, LineSplitter, Oversize
from mcpeval_dsl.gateway.losses import loss
from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireNoise

UNREADABLE = "Unreadable answer: "
"""Begins the message of the error that stands for an answer that was no message."""

OTHER_BYTES = 256 * 1024
"""Bytes read of a body that is neither JSON nor an event stream."""

Measured = Callable[[RawMessage], None]
Kind = Literal["json", "events", "other"]

_SUSPECT = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]|\d[eE]\+?\d{3}|\d{300}")


def kind_of_body(content_type: str) -> Kind:
    """What a body is by its content type."""
    if content_type.startswith("application/json"):
        return "json"
    return "events" if content_type.startswith("text/event-stream") else "other"


class BoundedBody(httpx2.AsyncByteStream):
    """A body for the SDK. `measured` is told the message as it was on the wire, where the body is that of one request."""

    def __init__(self, inner: Any, kind: Kind, limit: int, identity: int | str | None, measured: Measured) -> None:
        self._inner = inner
        self._kind = kind
        self._limit = limit
        self._identity = identity
        self._measured = measured

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = {"json": self._json, "events": self._events, "other": self._other}[self._kind]
        async for part in read():
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _json(self) -> AsyncIterator[bytes]:
        gathering = Gathering(self._limit)
        try:
            async for chunk in self._inner:
                gathering.add(chunk)
        except httpx2.TransportError as problem:
            yield loss(self._identity, problem)
            return
        body = gathering.done()
        if isinstance(body, Oversize) or body.strip():
            yield self._message(body)

    async def _events(self) -> AsyncIterator[bytes]:
        splitter, event = LineSplitter(self._limit), 0
        async for chunk in self._inner:
            for line in splitter.feed(chunk):
                size = line.size if isinstance(line, Oversize) else len(line)
                event = event + size if size > 1 else 0
                if isinstance(line, bytes) and event > 2 * self._limit:
                    yield self._event(WireNoise(f"an event of more than {event} bytes", ""))
                    return
                yield self._line(line)
        for line in splitter.rest():
            yield self._line(line)

    async def _other(self) -> AsyncIterator[bytes]:
        read = 0
        # Where such a body breaks off, what came of it is all that is needed.
        with contextlib.suppress(httpx2.TransportError):
            async for chunk in self._inner:
                read += len(chunk)
                yield chunk
                if read > OTHER_BYTES:
                    return

    def _line(self, line: bytes | Oversize) -> bytes:
        """One line of an event stream. Part of a message of several lines is nobody's to judge before the last."""
        if isinstance(line, Oversize):
            head = line.head.removeprefix(b"data:")
            return self._event(of_oversize(Oversize(head, line.tail, line.size, line.sha256), self._limit))
        if line.startswith(b"data:") and _SUSPECT.search(line) and _is_json(line[5:]):
            return self._event(parse_line(line[5:].strip()))
        return line + b"\n"

    def _event(self, item: RawMessage | WireNoise) -> bytes:
        return b"data: " + self._said(item) + b"\n"

    def _message(self, body: bytes | Oversize) -> bytes:
        item = of_oversize(body, self._limit) if isinstance(body, Oversize) else parse_line(body.strip())
        if isinstance(body, bytes) and isinstance(item, RawMessage) and _is_plain(body):
            self._measured(item)
            return body
        return self._said(item)

    def _said(self, item: RawMessage | WireNoise) -> bytes:
        if isinstance(item, RawMessage):
            self._measured(item)
            return json.dumps(item.body).encode()
        error = {"code": -32700, "message": UNREADABLE + item.reason}
        return json.dumps({"jsonrpc": "2.0", "id": self._identity, "error": error}).encode()


def _is_plain(body: bytes) -> bool:
    """Whether the SDK reads the same from a body as we do."""
    if _SUSPECT.search(body):
        return False
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
