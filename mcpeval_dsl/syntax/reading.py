"""Syntax, as a stage: bytes -> `SourceFile` -> `SyntaxTree`. Pure: who has the bytes, read them."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.source import Location, SourceFile, Span
from mcpeval_dsl.syntax.build import build
from mcpeval_dsl.syntax.parser import parse_piece
from mcpeval_dsl.syntax.split import split
from mcpeval_dsl.syntax.tree import Statement, SyntaxTree

MAX_BYTES = 4_000_000
MAX_ERRORS = 100


def decode(path: str, data: bytes) -> Checked[SourceFile]:
    """The text of a spec, or one diagnostic that says why it is none: too large, binary, not UTF-8."""
    if len(data) > MAX_BYTES:
        return _refused(
            path,
            "MCPE102",
            f"the file is too large to be a spec ({len(data) / 1e6:.1f} MB)",
            f"A spec has at most {MAX_BYTES // 1_000_000} MB; fixtures, tables and long texts stand in files of their own.",
            "move the data into a file and name it",
        )
    binary = data.find(b"\0")
    if binary >= 0:
        return _refused(
            path,
            "MCPE100",
            f"this is not a text (a zero byte at offset {binary})",
            "A spec is a text in UTF-8.",
            "check the path: it names a binary file, or one saved as UTF-16",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        diagnostic = Diagnostic(
            "MCPE101",
            f"the file is not UTF-8 (byte 0x{data[error.start]:02x})",
            Location(path, line, column, line, column + 1),
            "A spec is a text in UTF-8.",
            "save the file as UTF-8",
        )
        return Checked(None, (diagnostic,))
    return Checked(SourceFile(path, text))


def _refused(path: str, code: str, title: str, body: str, hint: str) -> Checked[SourceFile]:
    return Checked(None, (Diagnostic(code, title, Location(path, 1, 1, 1, 1), body, hint),))


def parse(file: SourceFile) -> Checked[SyntaxTree]:
    """The tree of `file` with all that could be read, and a diagnostic for every mistake, in the order of the text."""
    text = file.text
    statements: list[Statement] = []
    diagnostics: list[Diagnostic] = []
    complete = True
    for piece in split(text):
        source = text[piece.start : piece.end]
        parsed = parse_piece(source)
        statements += build(source, parsed.tokens, parsed.program, parsed.dropped, file, piece.start)
        diagnostics += [problem.diagnostic(file, piece.start) for problem in parsed.problems]
        complete = complete and parsed.complete
    return Checked(SyntaxTree(file, tuple(statements), complete), reported(file, diagnostics, bool(statements)))


def reported(file: SourceFile, found: list[Diagnostic], statements: bool) -> tuple[Diagnostic, ...]:
    """What is told of the mistakes of a file: not too many of them, and that it is empty where it is."""
    if not statements and not found:
        return (_empty(file),)
    return _capped(file, found)


def _empty(file: SourceFile) -> Diagnostic:
    return Diagnostic(
        "MCPE103",
        "the spec is empty",
        Span(file, 0, 0).location(),
        "A spec has at least one statement.",
        'begin with: suite my_suite "What it is about" { trials 1 }',
    )


def _capped(file: SourceFile, diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """At most `MAX_ERRORS`, and then one that says so."""
    if len(diagnostics) <= MAX_ERRORS:
        return tuple(diagnostics)
    more = Diagnostic(
        "MCPE104",
        f"{len(diagnostics) - MAX_ERRORS} more errors are not shown",
        diagnostics[MAX_ERRORS].at,
        f"After {MAX_ERRORS} errors the rest of {file.path} says little.",
        "mend the first ones; check that this is a spec at all",
    )
    return (*diagnostics[:MAX_ERRORS], more)
