"""Language server, first: a text -> its top-level parts, each scanned and read once for as long as its text stays.

What belongs to a part counts offsets from the part's start, so an edit touches only the part it is made in: the others
move without being read again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Concatenate, ParamSpec, TypeVar, cast
from weakref import WeakValueDictionary

from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.build import build
from mcpeval_dsl.syntax.parser import ParsedPiece, parse_piece
from mcpeval_dsl.syntax.problems import Problem
from mcpeval_dsl.syntax.scanner import Token, scan
from mcpeval_dsl.syntax.split import Piece, split_telling
from mcpeval_dsl.syntax.tree import Statement

More = ParamSpec("More")
Found = TypeVar("Found")
RECENT = 500_000  # characters; what is known of a part takes about a hundred times as many bytes


class Body:
    """What the text of one part says; all spans and offsets are relative to its start, in `file`, which is the part alone."""

    def __init__(self, path: str, text: str) -> None:
        self.text = text
        self.file = SourceFile(path, text)
        self.kept: dict[object, object] = {}  # what features found about it

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Everything as it is written, comments (COMMENT), newlines (_NL) and misfits (JUNK) among it."""
        return scan(self.text).items

    @cached_property
    def parsed(self) -> ParsedPiece:
        return parse_piece.__wrapped__(self.text)  # kept here, for as long as the part is

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """What could be read: usually one statement; what is half-typed is mended or left out."""
        parsed = self.parsed
        return build(self.text, parsed.tokens, parsed.program, parsed.dropped, self.file, 0)

    @property
    def is_read(self) -> bool:
        """Whether somebody asked already for what the text says."""
        return "parsed" in self.__dict__

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.parsed.problems


def once(function: Callable[Concatenate[Body, More], Found]) -> Callable[Concatenate[Body, More], Found]:
    """Have what a function finds about a body kept with it; further arguments are positional."""

    @wraps(function)
    def found(body: Body, /, *more: More.args, **none: More.kwargs) -> Found:
        key = (function, more)
        if key not in body.kept:
            body.kept[key] = function(body, *more, **none)
        return cast(Found, body.kept[key])

    return found


@dataclass(frozen=True, slots=True)
class Part:
    """A body at its place in a text."""

    start: int
    body: Body

    @property
    def end(self) -> int:
        return self.start + len(self.body.text)


class _Bodies:
    """Bodies by their text: those that a file open in the editor has, and those used last, so many characters in all."""

    def __init__(self) -> None:
        self._alive: WeakValueDictionary[tuple[str, str], Body] = WeakValueDictionary()
        self._recent: OrderedDict[tuple[str, str], Body] = OrderedDict()
        self._size = 0

    def get(self, path: str, text: str) -> Body:
        key = (path, text)
        body = self._alive.get(key)
        if body is None:
            body = self._alive[key] = Body(path, text)
        if key in self._recent:
            self._recent.move_to_end(key)
            return body
        self._recent[key] = body
        self._size += len(text)
        while self._size > RECENT and len(self._recent) > 1:
            self._size -= len(self._recent.popitem(last=False)[0][1])
        return body


_BODIES = _Bodies()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one text in order, without a gap between them. `whole` says that all brackets and fences pair up."""

    items: tuple[Part, ...]
    whole: bool


def parts_of(path: str, text: str) -> Parts:
    """The parts of a text, found by reading it once."""
    pieces, whole = split_telling(text)
    return Parts(_made(path, text, pieces, 0), whole)


def parts_after(path: str, before: Parts, text: str, start: int, end: int, by: int) -> Parts:
    """The same after an edit of the text that `before` is of: `start..end` there was replaced, which made it longer by `by`.

    Only the parts that the edit touches are split again, where everything still pairs up in them.
    """
    items = before.items
    if not before.whole:
        return parts_of(path, text)
    # one more at each side: what is typed at the edge of a part may join two of them
    first = max(0, bisect_left(items, start, key=lambda part: part.end) - 1)
    last = min(len(items), bisect_right(items, end, key=lambda part: part.start) + 1)
    begin, stop = items[first].start, (items[last - 1].end if last else 0) + by
    pieces, whole = split_telling(text[begin:stop])
    if not whole or not _at_word(text, stop):
        return parts_of(path, text)
    behind = tuple(Part(part.start + by, part.body) for part in items[last:])
    return Parts((*items[:first], *_made(path, text, pieces, begin), *behind), True)


def _at_word(text: str, offset: int) -> bool:
    """Whether a part may begin there: at the end, or at the first word of a line."""
    return offset >= len(text) or (text[offset - 1 : offset] == "\n" and text[offset] not in " \t\r\n")


def _made(path: str, text: str, pieces: list[Piece], base: int) -> tuple[Part, ...]:
    return tuple(
        Part(base + piece.start, _BODIES.get(path, text[base + piece.start : base + piece.end])) for piece in pieces
    )
