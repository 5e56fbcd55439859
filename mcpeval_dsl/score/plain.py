"""Score, published: plain data as JSON with a space of indentation, some ten times as fast as the standard library does it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any


def indented(value: Any) -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)`, of data whose keys are texts."""
    return "".join(_parts(value, "\n"))


def _parts(value: Any, line: str) -> Iterator[str]:
    """`line` begins a new line at the depth of the value."""
    inside = line + " "
    if isinstance(value, str):
        yield encode_basestring(value)
    elif isinstance(value, dict) and value:
        before = "{"
        for name, item in value.items():
            yield f"{before}{inside}{encode_basestring(name)}: "
            yield from _parts(item, inside)
            before = ","
        yield line + "}"
    elif isinstance(value, list) and value:
        if all(type(item) is str for item in value):
            between = "," + inside
            yield f"[{inside}{between.join(map(encode_basestring, value))}{line}]"
            return
        before = "["
        for item in value:
            yield before + inside
            yield from _parts(item, inside)
            before = ","
        yield line + "]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)
