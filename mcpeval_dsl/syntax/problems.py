"""Syntax, shared by its steps: what is wrong in a block, in offsets relative to it, so that a cached block can move."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.fixes import replacing
from mcpeval_dsl.diagnostics.model import Diagnostic, Label, Severity
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Fix:
    """The text from `start` to `end` becomes `text`; `safe` where nothing else can have been meant."""

    start: int
    end: int
    text: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A diagnostic before its file is known; `labels` are (start, end, text)."""

    code: str
    start: int
    end: int
    title: str
    body: str = ""
    hint: str = ""
    fix: Fix | None = None
    labels: tuple[tuple[int, int, str], ...] = ()
    severity: Severity = "error"

    def diagnostic(self, file: SourceFile, base: int) -> Diagnostic:
        """The same, at its place in `file`."""
        fix = self.fix
        change = fix and replacing(Span(file, base + fix.start, base + fix.end), fix.text, safe=fix.safe)
        return Diagnostic(
            code=self.code,
            title=self.title,
            at=Span(file, base + self.start, base + self.end).location(),
            body=self.body,
            hint=self.hint,
            severity=self.severity,
            labels=tuple(
                Label(Span(file, base + start, base + end).location(), text) for start, end, text in self.labels
            ),
            fixes=(change,) if change else (),
        )
