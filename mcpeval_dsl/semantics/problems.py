"""Semantics, support: where its passes put what they find, so that one mistake stays one error."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mcpeval_dsl.diagnostics.fixes import replacing
from mcpeval_dsl.diagnostics.model import Diagnostic, Fix, Label, Severity
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.tree import Statement


class Problems:
    """Collects diagnostics; remembers the errors of earlier stages by offset, to keep silent where they spoke."""

    __slots__ = ("_files", "_flagged", "_groups", "_seen", "found", "quiet")

    def __init__(self, earlier: Iterable[Diagnostic], files: Iterable[SourceFile]) -> None:
        self.found: list[Diagnostic] = []
        self.quiet = False
        self._groups: dict[tuple[str, str], int] = {}
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
        fixes: tuple[Fix, ...] = (),
        group: str = "",
        meant: tuple[str, str | None] | None = None,
    ) -> None:
        """Add a diagnostic once for each code and place.

        What bears the same `group` comes from one mistake: further places become labels of the first, and its fix mends
        them all. `meant` is the word at `span` and the one that was probably meant, which is offered as a fix.
        """
        if self.quiet:
            return
        if span is not None:
            key = (code, span.file.path, span.start)
            if key in self._seen:
                return
            self._seen.add(key)
            if group and (first := self._groups.setdefault((code, group), len(self.found))) < len(self.found):
                known = self.found[first]
                labels = (*known.labels, Label(span.location(), "and here"))
                self.found[first] = replace(known, labels=labels, fixes=_joined(known.fixes, _renamed(span, meant)))
                return
            fixes = (*fixes, *_renamed(span, meant))
        at = None if span is None else span.location()
        self.found.append(Diagnostic(code, title, at, body, hint, severity, labels, fixes))

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
        if not self._flagged:
            return False
        import re

        escaped = re.escape(name)
        word = re.compile(rf"(?<![\w-]){escaped}(?![\w-])")
        defined = re.compile(
            rf"(?<![\w.-]){escaped}[^\S\n]*(?:=(?!=)|\"|\{{)|^[^\S\n]*[\w-]+[^\S\n]+{escaped}(?![\w-])", re.M
        )
        for file in files:
            if file.path not in self._flagged:
                continue
            if any(word.search(line) or '.mcpe"' in line for line in self._lines(file)) or defined.search(file.text):
                return True
        return False

    def _lines(self, file: SourceFile) -> Iterator[str]:
        for offset in self._flagged[file.path]:
            yield file.line_text(file.lines.position(offset)[0])


def _renamed(span: Span, meant: tuple[str, str | None] | None) -> tuple[Fix, ...]:
    """Nothing where the place is wider than the word, so that other text would be lost."""
    if meant is None or meant[1] is None or span.text not in (meant[0], f'"{meant[0]}"'):
        return ()
    return (replacing(span, span.text.replace(meant[0], meant[1])),)


def _joined(earlier: tuple[Fix, ...], later: tuple[Fix, ...]) -> tuple[Fix, ...]:
    """One fix for all places of a mistake; none where one of them has none."""
    if len(earlier) != 1 or len(later) != 1:
        return ()
    return (replace(earlier[0], edits=(*earlier[0].edits, *later[0].edits)),)
