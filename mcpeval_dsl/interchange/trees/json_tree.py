"""Interchange: JSON -> nodes with their lines. Comments and commas at the end of lists are let pass, as editors do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mcpeval_dsl.interchange.trees.node import Builder, Node, Unreadable
from mcpeval_dsl.source import LineIndex

_TOKEN = re.compile(
    r'\s+|//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\]:,])|(?P<word>[^\s{}\[\]:,"/]+)', re.DOTALL
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORDS = {"true": "bool", "false": "bool", "null": "null"}


def read(text: str) -> Node:
    """The one value of a JSON text. Raises Unreadable."""
    lines = LineIndex(text)
    reader = _Reader(lines)
    for kind, token, start in _tokens(text, lines):
        reader.take(kind, token, lines.position(start)[0])
    return reader.done()


def _tokens(text: str, lines: LineIndex) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            line, column = lines.position(position)
            raise Unreadable(f"it is no JSON: {_what(text[position])} in column {column}", line)
        if found.lastgroup:
            yield found.lastgroup, found.group(), position
        position = found.end()


def _what(character: str) -> str:
    return "a text that is never closed" if character == '"' else f"`{character!a}`".replace("'", "")


class _Reader:
    """What may come next is told by `after`: nothing yet, a value, a comma, a colon."""

    def __init__(self, lines: LineIndex) -> None:
        self.build = Builder()
        self.lines = lines
        self.after = "start"

    def take(self, kind: str, token: str, line: int) -> None:
        if kind == "mark":
            self._mark(token, line)
            return
        self._fits(line)
        if self.build.wants_key:
            self.build.key(_text(token, line) if kind == "text" else token, line)
            self.after = "key"
            return
        self.build.add(_scalar(kind, token, line))
        self.after = "value"

    def _fits(self, line: int) -> None:
        if self.after == "value":
            raise Unreadable("it is no JSON: a comma is missing", line)
        if self.after == "key":
            raise Unreadable("it is no JSON: a colon is missing", line)

    def _mark(self, mark: str, line: int) -> None:
        inside = self.build.inside
        if mark in "{[":
            self._fits(line)
            if self.build.wants_key:
                raise Unreadable("it is no JSON: a key is missing", line)
            self.build.open(Node("map" if mark == "{" else "list", line))
            self.after = "open"
        elif mark in "}]":
            if inside is None or (inside.kind == "map") != (mark == "}") or self.after in ("key", "colon"):
                raise Unreadable(f"it is no JSON: a {mark} that closes nothing", line)
            self.build.close()
            self.after = "value"
        elif mark == ":" and self.after == "key":
            self.after = "colon"
        elif mark == "," and self.after == "value" and inside is not None:
            self.after = "comma"
        else:
            raise Unreadable(f"it is no JSON: a {mark} where none belongs", line)

    def done(self) -> Node:
        last = len(self.lines.starts)
        if self.build.inside is not None:
            raise Unreadable(
                f"it is no JSON: the {'{' if self.build.inside.kind == 'map' else '['} of line "
                f"{self.build.inside.line} is never closed",
                last,
            )
        if len(self.build.roots) != 1:
            raise Unreadable("it is empty" if not self.build.roots else "it has more than one value", last)
        return self.build.roots[0]


def _scalar(kind: str, token: str, line: int) -> Node:
    if kind == "text":
        return Node("text", line, _text(token, line))
    if token in _WORDS:
        return Node("null" if token == "null" else "bool", line, token)
    if _NUMBER.fullmatch(token):
        return Node("number", line, token)
    raise Unreadable(f"it is no JSON: `{token[:40]}` is no value", line)


def _text(token: str, line: int) -> str:
    try:
        value: str = json.loads(token, strict=False)
    except ValueError:
        raise Unreadable("it is no JSON: a text with an escape that does not exist", line) from None
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if "\\u" in token else value
