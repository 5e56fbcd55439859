"""Semantics, lowering: the steps of a JSONPath (RFC 9535), as far as they say which member or item they lead to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mcpeval_dsl.frozen import dataclass

_PLAIN = re.compile(
    r"""\.(?P<name>[^\W\d]\w*)|\.\*|\[\s*(?P<index>-?\d+)\s*\]|\[\s*(?:\*|-?\d*:-?\d*(?::-?\d*)?)\s*\]"""
    r"""|\[\s*(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]"""
)
_TEXTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_TESTED = re.compile(r"@\.([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a member by `name`, or one, some or all items or members. `start` and `end` are offsets of the name.

    `behind` is the offset of the next step; `tested` are members of each item that a filter
    looks at, with their offsets.
    """

    name: str | None
    kind: str
    start: int
    end: int
    behind: int
    tested: tuple[tuple[str, int], ...] = ()


def steps(path: str) -> Iterator[Step]:
    """Steps in order, up to the first one whose meaning depends on more than the path: `..`, several selectors, a template."""
    at, hidden = 1, ""
    while at < len(path):
        found = _PLAIN.match(path, at)
        if found is not None:
            yield _plain(found)
            at = found.end()
            continue
        if not path.startswith("[?", at):
            return
        hidden = hidden or _without_texts(path)
        end = _closed(hidden, at)
        if end is None:
            return
        yield Step(None, "filter", at, end, end, tuple(_tested(hidden, at, end)))
        at = end


def _plain(found: re.Match[str]) -> Step:
    if found["name"] is not None:
        return Step(found["name"], "member", found.start("name"), found.end("name"), found.end())
    if found["quoted"] is not None:
        return Step(_unquoted(found["quoted"]), "member", found.start("quoted"), found.end("quoted"), found.end())
    kind = "item" if found["index"] is not None else "members" if "*" in found[0] else "items"
    return Step(None, kind, found.start(), found.end(), found.end())


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    try:
        return str(
            json.loads(f'"{inner}"' if text[0] == '"' else '"' + inner.replace('"', '\\"').replace("\\'", "'") + '"')
        )
    except ValueError:
        return inner


def _closed(hidden: str, at: int) -> int | None:
    """The offset behind the bracket that closes the one at `at`."""
    depth = 0
    for offset in range(at, len(hidden)):
        depth += {"[": 1, "]": -1}.get(hidden[offset], 0)
        if depth == 0:
            return offset + 1
    return None


def _without_texts(path: str) -> str:
    """The path with no bracket, comma or `@` in its texts, at the same offsets."""
    return _TEXTS.sub(lambda found: "_" * len(found[0]), path)


def _tested(hidden: str, at: int, end: int) -> Iterator[tuple[str, int]]:
    """`@.name` of the outer filter only: inside a nested one `@` is something else. With several selectors, nothing."""
    inner = hidden[at + 1 : end - 1]
    if "[" in inner or "," in inner or "{{" in inner:
        return
    for found in _TESTED.finditer(inner):
        yield found[1], at + 1 + found.start(1)
