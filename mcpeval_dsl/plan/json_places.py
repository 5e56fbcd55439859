"""Plan, beside its files: where in a JSON text a member stands, so that a message about it can name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from mcpeval_dsl.source import LineIndex, Location

_SPACE = re.compile(r"[ \t\n\r]*")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_DECODER = json.JSONDecoder(strict=False)


def steps_of(path: str) -> tuple[str | int, ...]:
    """`$.servers[0].tools` as the steps it takes."""
    return tuple(int(index) if index else name for name, index in _STEP.findall(path))


def place(text: str, steps: Sequence[str | int]) -> int:
    """Offset of the value that the steps lead to, in a text that is JSON; of the last one there is, where one is missing."""
    at = _skip(text, 0)
    for step in steps:
        found = _member(text, at, step)
        if found is None:
            break
        at = found
    return at


def location(path: str, text: str, offset: int, length: int = 1) -> Location:
    """The offset as a person reads it."""
    line, column = LineIndex(text).position(offset)
    return Location(path, line, column, line, column + length)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _member(text: str, at: int, step: str | int) -> int | None:
    """Offset of one member of the object or list that begins at `at`."""
    opened = text[at : at + 1]
    if opened not in ("{", "[") or (opened == "{") != isinstance(step, str):
        return None
    at, number = _skip(text, at + 1), 0
    while text[at : at + 1] not in ("}", "]", ""):
        key: str | int = number
        if opened == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == step:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at, number = _skip(text, at), number + 1
        at = _skip(text, at + 1) if text[at : at + 1] == "," else at
    return None
