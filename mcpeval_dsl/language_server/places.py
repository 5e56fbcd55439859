"""Language server: places as diagnostics name them (path, lines, columns) -> offsets in the texts as they stand now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.language_server.positions import Encoding, Position, TextLines
from mcpeval_dsl.language_server.snapshot import Moved, moves
from mcpeval_dsl.source import Location, SourceFile

Range = tuple[Position, Position]
NOWHERE: Range = ((0, 0), (0, 0))


def offsets(file: SourceFile, at: Location) -> tuple[int, int]:
    """Start and end of a location in its text; what is outside of it becomes its nearest end."""
    starts, size = file.lines.starts, len(file.text)

    def offset(line: int, column: int) -> int:
        if line > len(starts):
            return size
        return min(max(starts[max(line, 1) - 1] + column - 1, 0), size)

    start = offset(at.line, at.column)
    return start, max(start, offset(at.end_line, at.end_column))


@dataclass(slots=True)
class _Text:
    file: SourceFile
    moved: Moved | None
    lines: TextLines


@dataclass(slots=True)
class Places:
    """`before` are the texts that locations speak of; `now` those that are open, where they may have changed since."""

    before: Mapping[str, str]
    now: Mapping[str, str]
    encoding: Encoding
    _texts: dict[str, _Text] = field(default_factory=dict)

    def range(self, at: Location) -> Range | None:
        """Where a location is now, as the editor counts; None where its text was touched meanwhile."""
        text = self._text(at.path)
        if text is None:
            return NOWHERE
        start, end = offsets(text.file, at)
        if text.moved is not None:
            placed = text.moved.place(start, end)
            if placed is None:
                return None
            start, end = placed
        return text.lines.position(start, self.encoding), text.lines.position(end, self.encoding)

    def _text(self, path: str) -> _Text | None:
        known = self._texts.get(path)
        if known is None:
            before = self.before.get(path, self.now.get(path))
            if before is None:
                return None
            now = self.now.get(path, before)
            moved = None if now == before else moves(before, now)
            known = self._texts[path] = _Text(SourceFile(path, before), moved, TextLines(now))
        return known
