"""Semantics, shape: where the parser already spoke, so that one mistake stays one error."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import Location, SourceFile
from mcpeval_dsl.syntax import tree


def offset_of(file: SourceFile, at: Location) -> int:
    """Where a location begins, as an offset."""
    return file.lines.starts[at.line - 1] + at.column - 1


def header_end(statement: tree.Statement) -> int:
    """Where a statement ends without its block."""
    return statement.span.end if statement.block is None else statement.block.span.start


class Earlier:
    """Places of the errors that are known before the shape is checked."""

    __slots__ = ("_file", "_offsets")

    def __init__(self, file: SourceFile, diagnostics: Iterable[Diagnostic]) -> None:
        self._file = file
        self._offsets = sorted(
            offset_of(file, d.at)
            for d in diagnostics
            if d.severity == "error" and d.at is not None and d.at.path == file.path
        )

    def inside(self, statement: tree.Statement) -> bool:
        """Whether an error was found in the statement, its block aside."""
        if not self._offsets:
            return False
        index = bisect_left(self._offsets, statement.span.start)
        return index < len(self._offsets) and self._offsets[index] <= header_end(statement)

    def unsaid(self, statement: tree.Statement, found: list[Diagnostic]) -> list[Diagnostic]:
        """Of what was found in a statement, what is about its block.

        Nothing, when its words do not fit either: the block may then belong to another word.
        """
        end = header_end(statement)
        inner = [d for d in found if d.at is not None and offset_of(self._file, d.at) > end]
        return inner if len(inner) == len(found) else []
