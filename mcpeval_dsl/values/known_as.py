"""Values: by what names a thing is known that a call gives by its id, as far as results had both in one place.

A person is asked about "Safari login", the call says `item_id: 42`, and an earlier result said that item 42 has that title.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from mcpeval_dsl.values.consent import MOST_VALUE, identifying, words_of
from mcpeval_dsl.values.nesting import json_within

MOST_NAMES = 200
MOST_NODES = 20_000
_NAMING = frozenset(
    (
        "name",
        "title",
        "subject",
        "summary",
        "key",
        "slug",
        "email",
        "username",
        "login",
        "label",
        "path",
        "file",
        "number",
    )
)


def names_of(arguments: Mapping[str, Any], results: Iterable[tuple[Any, str]]) -> tuple[str, ...]:
    """Names, as words, of what the values in `arguments` stand for; `results` are structured contents with their texts.

    In JSON: the naming members (a title, a key, anything of two words or with a digit) of an object that has one of the
    values as a member. In other texts: what stands in a line with the value, as pairs of longer words.
    """
    wanted = {words_of(value) for value in identifying(arguments)}
    if not wanted:
        return ()
    found: dict[str, None] = {}
    for structured, text in results:
        value = structured if structured is not None else _parsed(text)
        names = _in_lines(text, wanted) if value is None else _in_objects(value, wanted)
        for name in names:
            if len(found) >= MOST_NAMES:
                return tuple(found)
            if name not in wanted:
                found[name] = None
    return tuple(found)


def _parsed(text: str) -> Any:
    try:
        value = json_within(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _in_objects(value: Any, wanted: set[str]) -> Iterator[str]:
    todo: list[Any] = [value]
    for seen, item in enumerate(todo):
        if seen >= MOST_NODES:
            return
        if isinstance(item, Mapping):
            scalars = {key: words_of(str(one)) for key, one in item.items() if _short(one)}
            if not wanted.isdisjoint(scalars.values()):
                for key, words in scalars.items():
                    if _names_something(str(key), words):
                        yield words
                        yield from _pairs(words)
            todo.extend(one for one in item.values() if isinstance(one, Mapping | list))
        elif isinstance(item, list):
            todo.extend(one for one in item if isinstance(one, Mapping | list))


def _short(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MOST_VALUE
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names_something(key: str, words: str) -> bool:
    return bool(words) and (key.casefold() in _NAMING or (" " in words and len(words) >= 5))


def _in_lines(text: str, wanted: set[str]) -> Iterator[str]:
    for number, line in enumerate(text[: 64 * MOST_NODES].splitlines()):
        if number >= MOST_NODES:
            return
        words = words_of(line)
        if any(f" {value} " in f" {words} " for value in wanted):
            yield from _pairs(words)


def _pairs(words: str) -> Iterator[str]:
    """Two longer words in a row: people leave out parts of a title."""
    listed = words.split()
    for first, second in pairwise(listed):
        if len(first) > 3 and len(second) > 3:
            yield f"{first} {second}"
