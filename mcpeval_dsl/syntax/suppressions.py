"""Syntax, beside the tree: comments that ignore findings.

`# mcpe: ignore[MCPE371] because REASON` behind a statement holds for it, on a line of its own for the whole statement
that follows; `# mcpe: ignore-file[…] because …` for the file. In a text it is text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.fixes import replacing, without
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.registry import normal, titles
from mcpeval_dsl.diagnostics.suppression import WHOLE_FILE, Suppression
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.scanner import scan
from mcpeval_dsl.syntax.split import split
from mcpeval_dsl.syntax.tree import Statement, SyntaxTree

_MARK = re.compile(r"#[ \t]*mcpe[ \t]*:")
_FORM = re.compile(
    r"#[ \t]*mcpe[ \t]*:[ \t]*(ignore(?:-file)?)[ \t]*\[([^\]\n]*)\][ \t]*(?:because\b)?[ \t:]*([^\r\n]*)"
)
_CODE = re.compile(r"[^\s,]+")
MOST_CODES, MOST_GUESSES = 50, 100
_BODY = "A comment that ignores findings names their codes and says why: `# mcpe: ignore[MCPE371] because …`."


@dataclass(slots=True)
class Comments:
    """What the comments of one file ignore, and what is wrong with them."""

    found: list[Suppression]
    faults: list[Diagnostic]


def comments(tree: SyntaxTree) -> Comments:
    """All comments of a file that speak to `mcpe`. A file without any is not scanned again."""
    read = Comments([], [])
    if _MARK.search(tree.file.text) is None:
        return read
    areas = _Areas(tree)
    for span in _marked(tree.file):
        _read(read, span, areas)
    return read


def _marked(file: SourceFile) -> Iterator[Span]:
    for piece in split(file.text):
        text = file.text[piece.start : piece.end]
        if _MARK.search(text) is None:
            continue
        for token in scan(text).items:
            if token.kind == "COMMENT" and _MARK.match(text, token.start):
                end = token.start + len(text[token.start : token.end].rstrip())
                yield Span(file, piece.start + token.start, piece.start + end)


def _read(read: Comments, span: Span, areas: _Areas) -> None:
    form = _FORM.fullmatch(span.text)
    codes = [] if form is None else list(_CODE.finditer(span.text, form.start(2), form.end(2)))
    if form is None or not 0 < len(codes) <= MOST_CODES:
        title = f"this comment names more than {MOST_CODES} codes" if codes else "this comment ignores nothing"
        hint = "write `# mcpe: ignore[CODE] because REASON`, or take `mcpe:` out"
        read.faults.append(Diagnostic("MCPE360", title, span.location(), _BODY, hint, "warning"))
        return
    if not form[3].strip():
        title = "this comment does not say why"
        hint = f"write `{span.text.rstrip(' :')} because …`"
        read.faults.append(Diagnostic("MCPE361", title, span.location(), _BODY, hint, "warning"))
    first, last = (0, WHOLE_FILE) if form[1] == "ignore-file" else areas.of(span)
    inside = Span(span.file, span.start + form.start(2), span.start + form.end(2))
    for number, code in enumerate(codes):
        at = Span(span.file, span.start + code.start(), span.start + code.end())
        known = normal(code[0])
        if known is None:
            read.faults.append(_unknown(at, len(read.faults) < MOST_GUESSES))
            continue
        others = [each[0] for index, each in enumerate(codes) if index != number]
        removal = (
            replacing(inside, ", ".join(others), safe=True)
            if others
            else without(span, "Remove the comment", safe=True)
        )
        read.found.append(Suppression(known, at.location(), first, last, removal))


def _unknown(at: Span, guess: bool) -> Diagnostic:
    from mcpeval_dsl.diagnostics.suggestions import closest

    near = closest(at.text.upper(), titles()) if guess and len(at.text) < 20 else None
    hint = f"did you mean `{near}`?" if near else "`mcpe explain` lists all codes"
    fixes = (replacing(at, near),) if near else ()
    return Diagnostic("MCPE360", f"there is no code `{at.text}`", at.location(), _BODY, hint, "warning", fixes=fixes)


class _Areas:
    """The lines that a comment holds for, from the lines on which the statements of the file begin and end."""

    def __init__(self, tree: SyntaxTree) -> None:
        self.file = tree.file
        position = tree.file.lines.position
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.begun: dict[int, int] = {}  # last line of a statement without block -> its first
        for statement in _all(tree.statements):
            first, last = position(statement.span.start)[0], position(statement.span.end)[0]
            if statement.block is None:
                self.begun.setdefault(last, first)
            if not self.starts or self.starts[-1] != first:
                self.starts.append(first)
                self.ends.append(last)

    def of(self, span: Span) -> tuple[int, int]:
        """First and last line."""
        line = self.file.lines.position(span.start)[0]
        before = self.file.text[self.file.lines.starts[line - 1] : span.start]
        if before.strip():
            return self.begun.get(line, line), line
        following = bisect_right(self.starts, line)
        return (line, self.ends[following]) if following < len(self.starts) else (line, line)


def _all(statements: Iterable[Statement]) -> Iterator[Statement]:
    """In the order of the text, outer ones first."""
    todo = list(statements)[::-1]
    while todo:
        statement = todo.pop()
        yield statement
        if statement.block is not None:
            todo.extend(statement.block.statements[::-1])
