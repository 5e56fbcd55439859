"""Provenance: all places in a successful result where one of the wanted values stands, in one walk.

JSON, JSON or a Python literal inside a text, and object keys that look like ids; in plain text whole lines and long
hexadecimal tokens only, because words of prose assert nothing.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance import tables
from mcpeval_dsl.provenance.forms import exact

_LARGEST_TEXT = 4_000_000
_DEEPEST = 60
_LISTS = 200
_ENOUGH = 200
# White space, since texts may begin with it, and what JSON and Python literals begin with.
_OPENING = ("{", "[", "(", " ", "\n", "\t", "\r")
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


def hits(call: CallRecord, wanted: Collection[str]) -> list[Hit]:
    """The places of wanted forms in the result of a call; of what stands in one field again and again, the first ones."""
    walk = _Walk(wanted)
    inner = None if call.has_structured else parse(call.text)
    if call.has_structured or inner is not None:
        walk.value(call.structured if call.has_structured else inner, (), ())
    else:
        walk.found.extend(_lines(call.text, wanted))
        for row in tables.rows(call.text):
            if any(cell in wanted for cell in row.values()):
                walk.value(row, (), ())
    return walk.found


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


class _Walk:
    """One walk through a value. Objects are walked to a depth of 60, lists in lists to one of 200."""

    def __init__(self, wanted: Collection[str]) -> None:
        self.wanted = wanted
        self.found: list[Hit] = []
        self._times: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def value(self, value: Any, path: tuple[str, ...], records: tuple[Around, ...], depth: int = 0) -> None:
        if isinstance(value, Mapping):
            if len(path) > _DEEPEST:
                return
            inside = (*records, Around(path, value))
            for key, item in value.items():
                name = str(key)
                if name in self.wanted and _ID_LIKE.fullmatch(name):
                    self._keep(name, path, records)
                self._item(item, (*path, name), inside, depth)
        elif isinstance(value, list | tuple):
            if depth < _LISTS:
                for item in value:
                    self._item(item, path, records, depth + 1)
        else:
            self._item(value, path, records, depth)

    def _item(self, item: Any, path: tuple[str, ...], records: tuple[Around, ...], depth: int) -> None:
        if isinstance(item, str):
            if item in self.wanted:
                self._keep(item, path, records)
            elif item[:1] in _OPENING and len(item) > 2 and depth < _LISTS:
                inner = parse(item)
                if inner is not None:
                    self.value(inner, path, records, depth + 1)
        elif isinstance(item, Mapping | list | tuple):
            self.value(item, path, records, depth)
        else:
            form = exact(item)
            if form is not None and form in self.wanted:
                self._keep(form, path, records)

    def _keep(self, form: str, path: tuple[str, ...], records: tuple[Around, ...]) -> None:
        self._times[form, path] += 1
        if self._times[form, path] <= _ENOUGH:
            self.found.append(Hit(form, path, records))


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
