"""Language server, at its edge: the text of one open file, kept as lines, and the edits an editor sends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from mcpeval_dsl.language_server.positions import Encoding, Position, TextLines

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


class Change(NamedTuple):
    """The text between two positions becomes `text`; without positions the whole text does."""

    start: Position | None
    end: Position | None
    text: str


def split_lines(text: str) -> list[str]:
    """Lines with what ends them; the last one ends with the text, and may be empty."""
    found = _LINE.findall(text)
    if len(found) > 1 and found[-1] == "" and not found[-2].endswith(("\n", "\r")):
        found.pop()  # the pattern matches once more at the very end
    return found


class Buffer:
    """Lines of a text; a list of edits costs what its own lines cost, not the whole text each time."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def apply(self, changes: Iterable[Change], encoding: Encoding) -> None:
        """Make the edits one after the other; positions outside the text mean its nearest end."""
        for change in changes:
            if change.start is None or change.end is None:
                self.lines = split_lines(change.text)
            else:
                self._replace(change.start, change.end, change.text, encoding)

    def _replace(self, start: Position, end: Position, text: str, encoding: Encoding) -> None:
        first, before = self._place(start, encoding)
        last, behind = self._place(end, encoding)
        if (last, behind) < (first, before):
            last, behind = first, before
        changed = self.lines[first][:before] + text + self.lines[last][behind:]
        if first and changed.startswith("\n") and self.lines[first - 1].endswith("\r"):
            first -= 1
            changed = self.lines[first] + changed
        self.lines[first : last + 1] = split_lines(changed) if last + 1 == len(self.lines) else _inner(changed)

    def _place(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        """Number of a line and the offset in it."""
        line, character = position
        if line < 0:
            return 0, 0
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        return line, TextLines(self.lines[line]).offset((0, character), encoding)


def _inner(text: str) -> list[str]:
    """Lines of a text that ends where one of its lines does."""
    found = split_lines(text)
    return found[:-1] if found[-1] == "" else found
