"""Bytes from a server's standard output to JSON objects, in linear time and bounded memory.

Place in the pipeline: between a process's pipe and the wire log; knows JSON-RPC's `id` only to tell whom a broken line
was meant for.
"""

from __future__ import annotations

import re
from typing import Any

from mcpeval_dsl.gateway.surrogates import whole
from mcpeval_dsl.gateway.wire import RawMessage, WireNoise
from mcpeval_dsl.values.nesting import json_within

EDGE = 4_096
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ID = re.compile(r'"id"\s*:\s*(?:"([^"\\]{1,200})"|(-?\d{1,18}))')


class LineFramer:
    """Splits a byte stream at newlines. A line above `limit` bytes is dropped, keeping its first and last bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""

    def feed(self, data: bytes) -> list[RawMessage | WireNoise]:
        """Whole lines in `data` (with what was kept before) as messages; blank lines are nothing."""
        found: list[RawMessage | WireNoise] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            self._finish(found)
            start = end + 1
        if start < len(data):
            self._add(data[start:])
        return found

    def rest(self) -> list[RawMessage | WireNoise]:
        """What came after the last newline when the stream ended: half a line, or a message without its newline."""
        found: list[RawMessage | WireNoise] = []
        self._finish(found)
        return found

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self.limit:
            self._parts.append(part)
            return
        if self._parts:
            head = b"".join(self._parts)[:EDGE]
            self._parts = [head]
        self._tail = (self._tail + part[-EDGE:])[-EDGE:]

    def _finish(self, found: list[RawMessage | WireNoise]) -> None:
        line, size, tail = b"".join(self._parts), self._size, self._tail
        self._parts, self._size, self._tail = [], 0, b""
        if size > self.limit:
            text = (line[:EDGE] + b" ... " + tail).decode("utf-8", "replace")
            found.append(
                WireNoise(f"a message of {size} bytes, above the limit of {self.limit}", text, _addressee(text))
            )
            return
        line = line.strip()
        if line:
            found.append(parse_line(line))


def parse_line(line: bytes) -> RawMessage | WireNoise:
    """One line as a JSON object. Invalid UTF-8 is replaced; whatever else is wrong is noise, never an exception."""
    text = line.decode("utf-8", "replace")
    try:
        body: Any = json_within(text)
    except ValueError as problem:
        return WireNoise(f"a line that is not JSON ({str(problem)[:120]})", text[:EDGE], _addressee(text))
    if not isinstance(body, dict):
        return WireNoise("a line that is JSON but no object", text[:EDGE])
    return RawMessage(whole(body) if _SURROGATE.search(line) else body, len(line))


def _addressee(text: str) -> str | None:
    """The id in the envelope of a broken message, looked for at both ends only."""
    if not text.lstrip().startswith("{") or '"jsonrpc"' not in text[:EDGE] + text[-EDGE:]:
        return None
    found = _ID.search(text[:EDGE])
    if found is None:
        for candidate in _ID.finditer(text[-EDGE:]):
            found = candidate
    if found is None:
        return None
    return found.group(1) or found.group(2)
