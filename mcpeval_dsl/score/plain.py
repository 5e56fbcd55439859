"""Score, published: plain data as JSON with a space of indentation, some ten times as fast as the standard library does it."""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any


def indented(value: Any) -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)`, of data whose keys are texts."""
    parts: list[str] = []
    _write(value, "\n", parts.append)
    return "".join(parts)


def _write(value: Any, line: str, put: Callable[[str], None]) -> None:
    """`line` begins a new line at the depth of the value."""
    inside = line + " "
    if isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, dict) and value:
        before = "{"
        for name, item in value.items():
            put(f"{before}{inside}{encode_basestring(name)}: ")
            _write(item, inside, put)
            before = ","
        put(line + "}")
    elif isinstance(value, list) and value:
        if all(type(item) is str for item in value):
            put(f"[{inside}{f',{inside}'.join(map(encode_basestring, value))}{line}]")
            return
        before = "["
        for item in value:
            put(before + inside)
            _write(item, inside, put)
            before = ","
        put(line + "]")
    elif value is None:
        put("null")
    else:
        put(json.dumps(value, ensure_ascii=False, allow_nan=False))
