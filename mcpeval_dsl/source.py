"""First room: a text and places in it. Everything later points back here through `Span` and `Location`."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Location:
    """A place as a person reads it: 1-based lines and columns (code points); the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class LineIndex:
    """Offsets of line starts; answers offset -> (line, column) by bisection."""

    __slots__ = ("starts",)

    def __init__(self, text: str) -> None:
        starts = [0]
        find = text.find
        position = find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = find("\n", position + 1)
        self.starts = starts

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) in code points."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One text with the path it is shown under (relative to the project, with `/`)."""

    path: str
    text: str
    _lines: list[LineIndex] = field(default_factory=list, repr=False)

    @property
    def lines(self) -> LineIndex:
        if not self._lines:
            self._lines.append(LineIndex(self.text))
        return self._lines[0]

    def line_text(self, line: int) -> str:
        """Text of a 1-based line without its newline."""
        starts = self.lines.starts
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of offsets (code points) in one file."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        return Span(self.file, self.start, max(self.end, other.end))

    def location(self) -> Location:
        line, column = self.file.lines.position(self.start)
        end_line, end_column = self.file.lines.position(max(self.end, self.start))
        return Location(self.file.path, line, column, end_line, end_column)
