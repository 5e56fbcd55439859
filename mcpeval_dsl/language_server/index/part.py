"""Language server, index: one part -> its names, definitions and scopes, found once for as long as its text stays."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from mcpeval_dsl.language_server.index.model import Definition, Key, Occurrence
from mcpeval_dsl.language_server.index.scopes import Scope
from mcpeval_dsl.language_server.index.walking import Walk
from mcpeval_dsl.language_server.parts import Body, once

LARGEST_PART = 200_000  # characters; a larger part is data rather than a statement, and reading it takes seconds


class PartIndex:
    """Offsets are relative to the part. `occurrences` are in order of the text and do not overlap.

    Without `whole` the part was too large to be read, and nothing is known of it.
    """

    def __init__(self, body: Body) -> None:
        walk = Walk()
        self.whole = len(body.text) <= LARGEST_PART
        if self.whole:
            walk.statements(body.statements, "file", Scope(), None)
        found = sorted(set(walk.found), key=lambda o: (o.start, -o.end, not o.defines))
        self.occurrences = _apart(found)
        self.definitions: tuple[Definition, ...] = tuple(walk.definitions)
        self.blocks = tuple(walk.blocks)

    @cached_property
    def _starts(self) -> list[int]:
        return [o.start for o in self.occurrences]

    def at(self, offset: int) -> Occurrence | None:
        """The name at an offset, or else one that ends there."""
        number = bisect_right(self._starts, offset) - 1
        for occurrence in self.occurrences[max(number, 0) : number - 2 if number >= 2 else None : -1]:
            if occurrence.start <= offset <= occurrence.end:
                return occurrence
        return None

    @cached_property
    def by_key(self) -> dict[Key, list[Occurrence]]:
        """Every occurrence under each key that it may have."""
        found: dict[Key, list[Occurrence]] = {}
        for occurrence in self.occurrences:
            for key in occurrence.keys:
                found.setdefault(key, []).append(occurrence)
        return found

    @cached_property
    def paths(self) -> tuple[Occurrence, ...]:
        """Texts that name files."""
        return tuple(o for o in self.occurrences if o.role == "path")

    def scope_at(self, offset: int) -> Scope:
        """The names known at an offset beside those of the whole spec."""
        best = Scope()
        for start, end, _, scope in self.blocks:
            if start < offset <= end:
                best = scope
        return best


def _apart(found: list[Occurrence]) -> tuple[Occurrence, ...]:
    """Without those that begin inside another; a definition wins over a use at the same place."""
    kept: list[Occurrence] = []
    end = -1
    for occurrence in found:
        if occurrence.start >= end:
            kept.append(occurrence)
            end = occurrence.end
    return tuple(kept)


@once
def index(body: Body) -> PartIndex:
    """The index of a part, made once."""
    return PartIndex(body)
