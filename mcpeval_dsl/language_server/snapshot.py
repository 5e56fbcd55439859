"""Language server, its one value: a text as it stood at one version, and all that is known about it.

Features are functions of a snapshot and an offset. What the syntax says (`parts`, tokens, statements, `imports`) is of
this very text, however half-typed. What is wrong with its meaning (`analysis`) is found in the background and may be of an
earlier text, as `known`, the tools of its servers, may be of an earlier lock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.figures import SuiteFigures
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.positions import Encoding, Position, TextLines
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.reader import beside
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.tree import Directive, String, SyntaxTree


@dataclass(frozen=True, slots=True)
class Import:
    """`import "shared.mcpe"`: the file meant, by its path, and the text in quotes, quotes among it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found about one spec with its imports. `texts` are those of its `.mcpe` files, as they were read; `others`
    those of further files that diagnostics point into; `figures` what a run would be, of the last text without errors.
    """

    main: str
    texts: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    others: Mapping[str, str] = field(default_factory=dict)
    figures: SuiteFigures | None = None


class Files(Protocol):
    """The files around a snapshot. Open buffers win over what is on disk."""

    def snapshot(self, path: str) -> Snapshot | None:
        """The file at a path of the project, open or not; None where there is none."""
        ...

    def paths(self) -> tuple[str, ...]:
        """All `.mcpe` files of the project."""
        ...

    def exists(self, path: str) -> bool: ...

    def entries(self, folder: str) -> Sequence[str]:
        """What is in a folder of the project, folders with a `/` behind their name."""
        ...

    def text(self, path: str) -> str | None:
        """The text of any file of the project; None where there is none, or it cannot be read."""
        ...

    def importers(self, path: str) -> tuple[str, ...]:
        """The files that import this one, at first hand."""
        ...

    def uri(self, path: str) -> str: ...


@dataclass(frozen=True, eq=False)
class Snapshot:
    """`path` is relative to the project, with `/`, as all diagnostics show it; `version` is None for a file not open.

    `limited` says why only the syntax is looked at, and is empty else.
    """

    uri: str
    path: str
    text: str
    version: int | None
    encoding: Encoding
    parts: tuple[Part, ...]
    known: Mapping[str, KnownServer]
    files: Files
    analysis: Analysis | None = None
    limited: str = ""

    @cached_property
    def file(self) -> SourceFile:
        return SourceFile(self.path, self.text)

    @cached_property
    def kept(self) -> dict[str, object]:
        """What features found about this snapshot."""
        return {}

    @cached_property
    def lines(self) -> TextLines:
        return TextLines(self.text)

    def offset(self, position: Position) -> int:
        """The offset at a position of the editor."""
        return self.lines.offset(position, self.encoding)

    def position(self, offset: int) -> Position:
        """The editor's position of an offset."""
        return self.lines.position(offset, self.encoding)

    @cached_property
    def _starts(self) -> list[int]:
        return [part.start for part in self.parts]

    def part_at(self, offset: int) -> Part:
        """The part that holds an offset; the last one for the end of the text."""
        return self.parts[max(0, bisect_right(self._starts, offset) - 1)]

    def parts_between(self, start: int, end: int) -> Sequence[Part]:
        """The parts that have something between two offsets."""
        first = max(0, bisect_right(self._starts, start) - 1)
        return self.parts[first : bisect_right(self._starts, max(end, start))]

    def tokens(self) -> Iterator[Token]:
        """All tokens, comments and newlines among them, at their offsets in the text."""
        for part in self.parts:
            for token in part.body.tokens:
                yield Token(token.kind, part.start + token.start, part.start + token.end, token.mended)

    @cached_property
    def tree(self) -> SyntaxTree:
        """All statements with spans in the whole text. Costs as much as reading the file: for rare requests only."""
        from mcpeval_dsl.syntax import parse

        tree = parse(self.file).value
        assert tree is not None
        return tree

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        found = []
        for part in self.parts:
            if "import" not in part.body.text:
                continue
            for statement in part.body.statements:
                if isinstance(statement, Directive) and statement.name.text == "import" and statement.groups:
                    item = statement.groups[0].items[0]
                    if isinstance(item, String):
                        start, end = part.start + item.span.start, part.start + item.span.end
                        found.append(Import(beside(self.path, item.value), start, end))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Moved:
    """A text became another: all but `start..before` is unchanged, and what stood behind it stands `by` further on."""

    start: int
    before: int
    by: int

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a span of the old text stands in the new one; None where it was touched."""
        if end < self.start or (end == self.start and self.before > self.start):
            return start, end
        if start >= self.before and (start > self.start or self.by == 0):
            return start + self.by, end + self.by
        return None


def moves(before: str, after: str) -> Moved:
    """The one region in which two texts differ, by bisection over what they share at both ends."""
    if before == after:
        return Moved(len(before), len(before), 0)
    first = _shared(len(before), len(after), lambda size: before[:size] == after[:size])
    rest = min(len(before), len(after)) - first
    last = _shared(rest, rest, lambda size: size == 0 or before[-size:] == after[-size:])
    return Moved(first, len(before) - last, len(after) - len(before))


class _Test(Protocol):
    def __call__(self, size: int) -> bool: ...


def _shared(one: int, other: int, same: _Test) -> int:
    """The most characters that are the same; `same` holds up to a size and for none above."""
    low, high = 0, min(one, other)
    while low < high:
        middle = (low + high + 1) // 2
        if same(middle):
            low = middle
        else:
            high = middle - 1
    return low
