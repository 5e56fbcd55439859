"""Diagnostics, before they are shown: which codes a project looks at, and how serious they are to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from typing import Literal

from mcpeval_dsl.diagnostics.model import Diagnostic, Severity
from mcpeval_dsl.frozen import dataclass

Level = Literal["error", "warning", "note", "off"]


@dataclass(frozen=True, slots=True)
class LintSettings:
    """Codes are whole or beginnings of codes: `MCPE37` stands for MCPE370 to MCPE379.

    `select`: where not empty, only these; `ignore`: not these; `per_file`: (glob of paths, codes not looked at there);
    `severity`: another one for a code; `notes`: notes are listed, not counted.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Level] = field(default_factory=dict)
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: bool = False

    def apply(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Warnings and notes by these settings. Errors stay what they are: no setting makes a wrong spec right."""
        if not (self.select or self.ignore or self.severity or self.per_file):
            return list(diagnostics)
        return [found for each in diagnostics if (found := self._seen(each)) is not None]

    def _seen(self, diagnostic: Diagnostic) -> Diagnostic | None:
        if diagnostic.severity == "error":
            return diagnostic
        code = diagnostic.code
        if (self.select and not code.startswith(self.select)) or (self.ignore and code.startswith(self.ignore)):
            return None
        path = diagnostic.at.path if diagnostic.at is not None else ""
        if any(code.startswith(codes) and fnmatchcase(path, glob) for glob, codes in self.per_file):
            return None
        level: Level | Severity = self.severity.get(code, diagnostic.severity)
        if level == "off":
            return None
        return diagnostic if level == diagnostic.severity else replace(diagnostic, severity=level)
