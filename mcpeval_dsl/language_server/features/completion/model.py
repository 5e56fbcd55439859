"""Language server, completion: one proposal."""

from __future__ import annotations

from typing import Literal, NamedTuple

ItemKind = Literal[
    "keyword",
    "word",
    "variable",
    "field",
    "function",
    "tool",
    "argument",
    "value",
    "server",
    "name",
    "file",
    "unit",
    "metric",
    "tag",
]


class Item(NamedTuple):
    """`text` replaces `start..end` (offsets of the whole text); `snippet`, where a client takes them, does so instead.

    `rank` orders the list: the lower, the further up. `documentation` is Markdown.
    """

    label: str
    kind: ItemKind
    start: int
    end: int
    text: str
    rank: int = 50
    detail: str = ""
    documentation: str = ""
    snippet: str = ""


class Draft(NamedTuple):
    """A proposal before it is placed."""

    label: str
    kind: ItemKind
    rank: int = 50
    detail: str = ""
    documentation: str = ""
    text: str = ""
    snippet: str = ""
