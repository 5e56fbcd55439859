"""Diagnostics, after they are found: their fixes made on texts, as many as do not touch each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.diagnostics.model import Edit, Fix
from mcpeval_dsl.source import Location, SourceFile


@dataclass(slots=True)
class Applied:
    """The texts that have changed, by path, and the fixes that were made."""

    texts: dict[str, str] = field(default_factory=dict)
    made: list[Fix] = field(default_factory=list)


@dataclass(slots=True)
class _Edits:
    """Edits of one file as (start, end, new text), in order, none touching another."""

    file: SourceFile
    taken: list[tuple[int, int, str]] = field(default_factory=list)

    def place(self, at: Location) -> tuple[int, int] | None:
        """Offsets; None where the text has no such place."""
        starts = self.file.lines.starts
        if not 0 < at.line <= at.end_line <= len(starts):
            return None
        first, last = starts[at.line - 1] + at.column - 1, starts[at.end_line - 1] + at.end_column - 1
        return (first, last) if 0 <= first <= last <= len(self.file.text) else None

    def free(self, start: int, end: int) -> bool:
        number = bisect_left(self.taken, (start, start, ""))
        if number < len(self.taken) and (self.taken[number][0] == start or self.taken[number][0] < end):
            return False
        return number == 0 or self.taken[number - 1][1] <= start

    def changed(self) -> str:
        text, position = self.file.text, 0
        parts: list[str] = []
        lines = "\r\n" if "\r\n" in text else "\n"
        for start, end, new in self.taken:
            parts += (text[position:start], new.replace("\r\n", "\n").replace("\n", lines))
            position = end
        return "".join(parts) + text[position:]


def apply(files: Mapping[str, SourceFile], fixes: Iterable[Fix]) -> Applied:
    """Each fix whole or not at all, the first of two that touch; equal ones count once. Line ends are those of the file."""
    edits = {path: _Edits(file) for path, file in files.items()}
    applied = Applied()
    met: set[tuple[Edit, ...]] = set()
    for fix in fixes:
        if fix.edits in met:
            continue
        placed = _placed(fix, edits)
        if placed is None:
            continue
        met.add(fix.edits)
        applied.made.append(fix)
        for path, start, end, text in placed:
            taken = edits[path].taken
            taken.insert(bisect_left(taken, (start, end, text)), (start, end, text))
    for path, each in edits.items():
        if each.taken and (text := each.changed()) != each.file.text:
            applied.texts[path] = text
    return applied


def _placed(fix: Fix, edits: dict[str, _Edits]) -> list[tuple[str, int, int, str]] | None:
    """Where the edits of a fix go; None where a place is gone or taken."""
    found = []
    for edit in fix.edits:
        file = edits.get(edit.at.path)
        place = file.place(edit.at) if file is not None else None
        if file is None or place is None or not file.free(*place):
            return None
        found.append((edit.at.path, *place, edit.text))
    return found
