"""Interchange: where in the result of a call a value stands, as a JSONPath that finds it again in a harvest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.values.nesting import json_within

_NAME = re.compile(r"[A-Za-z_]\w*")
MOST = 200_000


def parsed(structured: Any, text: str) -> Any:
    """What `$` is in a harvest: the structured content, a wrapper with one text opened, else the text as JSON; None otherwise."""
    value = structured
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
        value = _json(next(iter(value.values())))
    if value is None:
        value = _json(text)
    return value if isinstance(value, dict | list) else None


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json_within(text)
    except ValueError:
        return None


def leaves(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Path and value of every scalar, in order; at most MOST."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    count = 0
    while stack and count < MOST:
        path, each = stack.pop()
        if isinstance(each, dict):
            stack.extend(((*path, str(key)), item) for key, item in reversed(each.items()))
        elif isinstance(each, list):
            stack.extend(((*path, number), item) for number, item in reversed(list(enumerate(each))))
        else:
            count += 1
            yield path, each


def places(value: Any) -> dict[str, tuple[str | int, ...]]:
    """The first place of each form."""
    found: dict[str, tuple[str | int, ...]] = {}
    for path, each in leaves(value):
        form = exact(each)
        if form is not None and path:
            found.setdefault(form, path)
    return found


def json_path(path: tuple[str | int, ...]) -> str:
    parts = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _NAME.fullmatch(step):
            parts.append(f".{step}")
        else:
            parts.append(f"[{json.dumps(step)}]")
    return "$" + "".join(parts)


def by_what_was_said(value: Any, path: tuple[str | int, ...], said: str) -> str | None:
    """The path with a filter in place of the last position, where the record there has a text that the user named.

    None where it has none, or others have it too.
    """
    places_in_lists = [number for number, step in enumerate(path) if isinstance(step, int)]
    if not places_in_lists:
        return None
    position = places_in_lists[-1]
    records = value
    for step in path[:position]:
        records = records[step]
    record = records[path[position]]
    for field, named in record.items() if isinstance(record, dict) else ():
        if not isinstance(named, str) or not _NAME.fullmatch(field) or not _tells(named, said):
            continue
        if sum(isinstance(each, dict) and each.get(field) == named for each in records) == 1:
            before, after = json_path(path[:position]), json_path(path[position + 1 :])[1:]
            return f"first({before}[?@.{field} == {json.dumps(named, ensure_ascii=False)}]{after})"
    return None


def _tells(named: str, said: str) -> bool:
    return 4 <= len(named) <= 120 and "\\" not in named and named.isprintable() and named in said


def field_name(path: tuple[str | int, ...]) -> str:
    """A name for the value at a path: its own field's."""
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "value")
