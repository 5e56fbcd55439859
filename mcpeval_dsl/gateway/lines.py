"""Bytes to lines, in linear time and bounded memory: a line above the limit becomes its two ends, its size and its hash.

Place in the pipeline: lowest of the gateway; framing makes messages of lines, over pipes and over HTTP alike.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass
from typing import Any

EDGE = 2 * 1024 * 1024 - 1024
"""Bytes kept of each end of a line above the limit: together, with a word between them, what a record keeps of a result."""


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line that was too long to keep. `head` and `tail` never overlap; `sha256` is of the whole line, as hex."""

    head: bytes
    tail: bytes
    size: int
    sha256: str


class Gathering:
    """One message in parts: kept whole up to `limit` bytes, above it only as an `Oversize`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._parts: list[bytes] = []
        self._edges: _Edges | None = None

    def add(self, part: bytes) -> None:
        """Take the next bytes."""
        self.size += len(part)
        if self._edges is not None:
            self._edges.add(part)
            return
        self._parts.append(part)
        if self.size > self.limit:
            self._edges = _Edges(min(EDGE, self.limit // 2))
            for kept in self._parts:
                self._edges.add(kept)
            self._parts = []

    def done(self) -> bytes | Oversize:
        """The message; the next one begins."""
        edges, size = self._edges, self.size
        whole = b"".join(self._parts)
        self._parts, self.size, self._edges = [], 0, None
        return whole if edges is None else edges.done(size)


class LineSplitter:
    """Splits a byte stream at newlines; keeps at most `limit` bytes of an unfinished line."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._line = Gathering(limit)

    def feed(self, data: bytes) -> list[bytes | Oversize]:
        """The lines that `data` completes, without their newlines."""
        found: list[bytes | Oversize] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._line.add(data[start:end])
            found.append(self._line.done())
            start = end + 1
        if start < len(data):
            self._line.add(data[start:])
        return found

    def rest(self) -> list[bytes | Oversize]:
        """What came after the last newline when the stream ended."""
        return [self._line.done()] if self._line.size else []


class _Edges:
    """Head, tail and running hash of a line, whatever its length; a part is copied at most twice."""

    def __init__(self, edge: int) -> None:
        self._edge = edge
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._hash: Any = hashlib.sha256()

    def add(self, part: bytes) -> None:
        self._hash.update(part)
        room = self._edge - len(self._head)
        if room > 0:
            self._head += part[:room]
            part = part[room:]
        if not part:
            return
        self._tail.append(part)
        self._kept += len(part)
        while self._kept - len(self._tail[0]) >= self._edge:
            self._kept -= len(self._tail.popleft())

    def done(self, size: int) -> Oversize:
        tail = b"".join(self._tail)[-self._edge :] if self._edge else b""
        return Oversize(bytes(self._head), tail, size, self._hash.hexdigest())
