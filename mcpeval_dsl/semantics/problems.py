"""Semantics, support: where its passes put what they find, so that one mistake stays one error."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Label, Severity
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.tree import Directive, Statement


class Problems:
    """Collects diagnostics; remembers the errors of earlier stages by offset, to keep silent where they spoke."""

    __slots__ = ("_files", "_flagged", "_seen", "found", "quiet")

    def __init__(self, earlier: Iterable[Diagnostic], files: Iterable[SourceFile]) -> None:
        self.found: list[Diagnostic] = []
        self.quiet = False
        self._seen: set[tuple[str, str, int]] = set()
        self._files = {file.path: file for file in files}
        self._flagged: dict[str, list[int]] = {}
        for diagnostic in earlier:
            self._flag(diagnostic)
        for offsets in self._flagged.values():
            offsets.sort()

    def _flag(self, diagnostic: Diagnostic) -> None:
        at = diagnostic.at
        if diagnostic.severity != "error" or at is None:
            return
        file = self._files.get(at.path)
        if file is not None and at.line <= len(file.lines.starts):
            offset = file.lines.starts[at.line - 1] + at.column - 1
            self._flagged.setdefault(at.path, []).append(offset)

    def report(
        self,
        code: str,
        span: Span | None,
        title: str,
        body: str = "",
        hint: str = "",
        *,
        severity: Severity = "error",
        labels: tuple[Label, ...] = (),
        edit: Edit | None = None,
    ) -> None:
        """Add a diagnostic once for each code and place."""
        if self.quiet:
            return
        if span is not None:
            key = (code, span.file.path, span.start)
            if key in self._seen:
                return
            self._seen.add(key)
        at = None if span is None else span.location()
        self.found.append(Diagnostic(code, title, at, body, hint, severity, labels, edit))

    @property
    def failed(self) -> bool:
        """True when this or an earlier stage found an error."""
        return bool(self._flagged) or any(d.severity == "error" for d in self.found)

    @property
    def earlier(self) -> bool:
        """True when an earlier stage found an error, so that some statements may be missing."""
        return bool(self._flagged)

    def flagged(self, span: Span) -> bool:
        """True when an earlier stage reported an error inside the span."""
        offsets = self._flagged.get(span.file.path)
        if not offsets:
            return False
        index = bisect_left(offsets, span.start)
        return index < len(offsets) and offsets[index] <= span.end

    def flagged_header(self, statement: Statement) -> bool:
        """The same for a statement without its block."""
        if not self._flagged:
            return False
        span = statement.span
        block = statement.block
        end = span.end if block is None else block.span.start
        return self.flagged(Span(span.file, span.start, end))

    def may_be_lost(self, name: str, files: Iterable[SourceFile]) -> bool:
        """True when text that an earlier stage could not use may have defined `name`."""
        import re

        if not self._flagged:
            return False
        pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])(?=[^\S\n]*(?:=(?!=)|\"|\{{|\sin\b))")
        header = re.compile(rf"^[^\S\n]*[\w-]+[^\S\n]+{re.escape(name)}(?![\w-])", re.MULTILINE)
        for file in files:
            offsets = self._flagged.get(file.path)
            if offsets and (pattern.search(file.text) or header.search(file.text)):
                return True
        return False


def name_span(statement: Directive) -> Span:
    """Where the name that a block defines stands, or the keyword where it has none."""
    for group in statement.groups:
        for item in group.items:
            return item.span
    return statement.name.span
