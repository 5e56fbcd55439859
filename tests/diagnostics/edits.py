"""Fixes made on a text, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import Location, SourceFile


def apply_fixes(file: SourceFile, diagnostics: Iterable[Diagnostic]) -> str:
    """The text after the first fix of each."""
    edits = [edit for d in diagnostics for edit in d.fixes[0].edits]
    text = file.text
    for edit in sorted(edits, key=lambda e: (e.at.line, e.at.column), reverse=True):
        first, last = offsets(file, edit.at)
        text = text[:first] + edit.text + text[last:]
    return text


def offsets(file: SourceFile, at: Location) -> tuple[int, int]:
    starts = file.lines.starts
    return starts[at.line - 1] + at.column - 1, starts[at.end_line - 1] + at.end_column - 1
