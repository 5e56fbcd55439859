"""Interchange: where in the result of a call a value stands, as a JSONPath that finds it again in a harvest."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
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


def places(value: Any, wanted: Collection[str]) -> dict[str, tuple[str | int, ...]]:
    """The first place of each wanted form."""
    found: dict[str, tuple[str | int, ...]] = {}
    for path, each in leaves(value):
        form = exact(each)
        if form is not None and form in wanted and path:
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


def field_name(path: tuple[str | int, ...]) -> str:
    """A name for the value at a path: its own field's."""
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "value")
