"""Provenance: all places in a successful result where one of the wanted values stands, in one walk.

JSON, JSON or a Python literal inside a text, and object keys that look like ids; in plain text whole lines and long
hexadecimal tokens only, because words of prose assert nothing.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance import tables
from mcpeval_dsl.provenance.forms import exact

_LARGEST_TEXT = 4_000_000
_DEEPEST = 60
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{20,64}(?![0-9A-Za-z])")
_TAG = re.compile(r"^(?:\[[A-Z]{1,12}\]|[-*]) +")
_ID_LIKE = re.compile(r"(?=.*[0-9])[A-Za-z0-9._:/-]{2,}")


@dataclass(frozen=True, slots=True)
class Around:
    """An object that holds a value, with the field names above it."""

    path: tuple[str, ...]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """One value where it stood. `path`: field names above it; `records`: the objects around it, the innermost last."""

    form: str
    path: tuple[str, ...]
    records: tuple[Around, ...] = ()
    shape: str = "structured"


def hits(call: CallRecord, wanted: Collection[str]) -> Iterator[Hit]:
    """Every place of a wanted form in the result of a call."""
    if call.has_structured:
        yield from _walk(call.structured, wanted, (), ())
        return
    inner = parse(call.text)
    if inner is not None:
        yield from _walk(inner, wanted, (), ())
    else:
        yield from _lines(call.text, wanted)
        for row in tables.rows(call.text):
            yield from _walk(row, wanted, (), ())


def parse(text: str) -> Any:
    """The list or object a text holds, as JSON or as a Python literal; None where it holds neither."""
    start = text.lstrip()[:1]
    if start not in ("{", "[", "(") or len(text) > _LARGEST_TEXT:
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    except RecursionError:
        return None
    if len(text) > _LARGEST_TEXT // 4:
        return None
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return value if isinstance(value, list | tuple | dict) else None


def _walk(value: Any, wanted: Collection[str], path: tuple[str, ...], records: tuple[Around, ...]) -> Iterator[Hit]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        inside = (*records, Around(path, value))
        for key, item in value.items():
            name = str(key)
            if name in wanted and _ID_LIKE.fullmatch(name):
                yield Hit(name, path, records)
            yield from _walk(item, wanted, (*path, name), inside)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _walk(item, wanted, path, records)
    else:
        form = exact(value)
        if form is not None and form in wanted:
            yield Hit(form, path, records)
        elif isinstance(value, str) and len(value) > 2:
            inner = parse(value)
            if inner is not None:
                yield from _walk(inner, wanted, path, records)


def _lines(text: str, wanted: Collection[str]) -> Iterator[Hit]:
    for line in text.splitlines():
        form = line.strip()
        entry = _TAG.sub("", line).rstrip() if line[:1] in ("[", "-", "*") else form
        if form in wanted:
            yield Hit(form, (), (), "line")
        elif entry in wanted:
            yield Hit(entry, (), (), "entry")
        elif len(form) >= 20:
            for token in _HEX.findall(form):
                if token in wanted:
                    yield Hit(token, (), (), "token")


def has_content(call: CallRecord) -> bool:
    """Whether a result says anything but what it was asked: an empty list vouches for nothing."""
    asked = {exact(item) for item in call.arguments.values()}
    value = call.structured if call.has_structured else parse(call.text)
    if value is None:
        return bool(call.text.strip())
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
        elif item != 0 and exact(item) not in (None, *asked):
            return True
    return False
