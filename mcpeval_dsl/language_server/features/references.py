"""Language server, references and highlights: every place that means the same as the one at an offset."""

from __future__ import annotations

from typing import NamedTuple

from mcpeval_dsl.language_server.index.project import Place, find, places
from mcpeval_dsl.language_server.snapshot import Snapshot


class Highlight(NamedTuple):
    """`written`: the name is defined there."""

    start: int
    end: int
    written: bool


def references(snapshot: Snapshot, offset: int, *, definitions: bool = True) -> list[Place]:
    """Uses of the name at an offset, in all files that share it; with its definitions, if they are wanted."""
    found = find(snapshot, offset)
    if found is None:
        return []
    return [place for place in places(found) if definitions or not place.occurrence.defines]


def highlights(snapshot: Snapshot, offset: int) -> list[Highlight]:
    """The same within this file. A word of the language is highlighted alone."""
    found = find(snapshot, offset)
    if found is None:
        return []
    if found.key is None:
        return [Highlight(found.start, found.end, False)]
    return [Highlight(p.start, p.end, p.occurrence.defines) for p in places(found, [snapshot])]
