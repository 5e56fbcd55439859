"""Bytes from a server's standard output to JSON objects; what is no message becomes noise that says why.

Place in the pipeline: between lines and the wire log; knows JSON-RPC's `id` only to tell whom a broken line was meant for.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from mcpeval_dsl.gateway.lines import LineSplitter, Oversize
from mcpeval_dsl.gateway.oversize import addressee, cut_message
from mcpeval_dsl.gateway.surrogates import whole
from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireNoise
from mcpeval_dsl.values.nesting import json_within

SHOWN = 4_096
HASHED_FROM = 4 * 1024 * 1024
"""Bytes from which a message's hash is kept: a record may hold less than all of it."""

_LARGE = re.compile(rb"\d[eE]\+?\d{3}|\d{300}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class LineFramer:
    """Messages from a byte stream that separates them by newlines; `limit` is in bytes of one message."""

    def __init__(self, limit: int) -> None:
        self._lines = LineSplitter(limit)

    def feed(self, data: bytes) -> list[RawMessage | WireNoise]:
        """Whole lines in `data` (with what was kept before) as messages; blank lines are nothing."""
        return _messages(self._lines.feed(data), self._lines.limit)

    def rest(self) -> list[RawMessage | WireNoise]:
        """What came after the last newline when the stream ended: a message without its newline, or half a line.

        Half a line answers nobody: that the stream ended is what befell the request it may have been meant for.
        """
        found = _messages(self._lines.rest(), self._lines.limit)
        return [WireNoise(each.reason, each.raw) if isinstance(each, WireNoise) else each for each in found]


def _messages(lines: list[bytes | Oversize], limit: int) -> list[RawMessage | WireNoise]:
    found: list[RawMessage | WireNoise] = []
    for line in lines:
        if isinstance(line, Oversize):
            found.append(of_oversize(line, limit))
        elif line := line.strip():
            found.append(parse_line(line))
    return found


def of_oversize(line: Oversize, limit: int) -> RawMessage | WireNoise:
    """A line above the limit: a result cut to its ends, or noise."""
    body = cut_message(line)
    if body is not None:
        return RawMessage(body, line.size, line.sha256, cut=True)
    head, tail = line.head[:SHOWN].decode("utf-8", "replace"), line.tail[-SHOWN:].decode("utf-8", "replace")
    identity = addressee(head, tail)
    reason = f"a message of {line.size} bytes, above the limit of {limit}, SHA-256 {line.sha256}"
    return WireNoise(reason, f"{head} ... {tail}", None if identity is None else str(identity))


def parse_line(line: bytes) -> RawMessage | WireNoise:
    """One line as a JSON object. Invalid UTF-8 is replaced; whatever else is wrong is noise, never an exception."""
    text = line.decode("utf-8", "replace")
    try:
        # A number as large as a thousand digits is infinite to Python; only where one may be is each of them looked at.
        special = {"parse_float": _finite} if _LARGE.search(line) else {}
        body: Any = json_within(text, parse_constant=_no_constant, **special)
    except ValueError as problem:
        identity = addressee(text[:SHOWN], text[-SHOWN:])
        said = None if identity is None else str(identity)
        return WireNoise(f"a line that is not JSON ({str(problem)[:120]})", text[:SHOWN], said)
    if not isinstance(body, dict):
        return WireNoise("a line that is JSON but no object", text[:SHOWN])
    sha256 = hashlib.sha256(line).hexdigest() if len(line) >= HASHED_FROM else ""
    return RawMessage(whole(body) if _SURROGATE.search(line) else body, len(line), sha256)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON value")
