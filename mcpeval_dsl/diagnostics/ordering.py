"""Diagnostics, before they are shown: in the order of the text, each once."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic, Severity

_RANK: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, place, severity and code, without those of equal code, place and title. Those without a file come first."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        unique.setdefault((diagnostic.code, diagnostic.at, diagnostic.title), diagnostic)
    return sorted(unique.values(), key=_key)


def _key(diagnostic: Diagnostic) -> tuple[str, int, int, int, str, str]:
    at = diagnostic.at
    place = (at.path, at.line, at.column) if at else ("", 0, 0)
    return (*place, _RANK[diagnostic.severity], diagnostic.code, diagnostic.title)


def count(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """How many of each severity."""
    numbers: dict[str, int] = {"error": 0, "warning": 0, "note": 0}
    for diagnostic in diagnostics:
        numbers[diagnostic.severity] += 1
    return numbers
