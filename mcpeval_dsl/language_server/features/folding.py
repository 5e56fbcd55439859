"""Language server, folding: blocks, brackets, texts over several lines, runs of comments, imports."""

from __future__ import annotations

from typing import Literal, NamedTuple

from mcpeval_dsl.language_server.parts import Body, once
from mcpeval_dsl.language_server.positions import TextLines
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.scanner import Token

FoldKind = Literal["region", "comment", "imports"]
_OPENERS = frozenset({"LBRACE", "LPAR", "LSQB", "_IDX", "_OBJ"})
_CLOSERS = frozenset({"RBRACE", "RPAR", "RSQB"})


class Fold(NamedTuple):
    """Lines from 0; both ends stay within what is folded."""

    start: int
    end: int
    kind: FoldKind


def folding(snapshot: Snapshot) -> list[Fold]:
    """What can be folded, in order of the text."""
    found: list[Fold] = []
    base = 0
    imports: list[int] = []
    for part in snapshot.parts:
        folds, lines, is_import, last = folds_of(part.body)
        found += [Fold(f.start + base, f.end + base, f.kind) for f in folds]
        if is_import:
            imports += [base, base + last]
        elif imports:
            _imports(found, imports)
            imports = []
        base += lines
    _imports(found, imports)
    return sorted(found)


def _imports(found: list[Fold], lines: list[int]) -> None:
    if lines and lines[-1] > lines[0]:
        found.append(Fold(lines[0], lines[-1], "imports"))


@once
def folds_of(body: Body) -> tuple[tuple[Fold, ...], int, bool, int]:
    """Folds of one part by its own lines, its line ends, whether it is an import, and the last line of its statement."""
    lines = TextLines(body.text)
    found: list[Fold] = []
    opened: list[int] = []
    comments: list[int] = []
    last = 0
    for token in body.tokens:
        first = lines.line(token.start)
        if token.kind == "COMMENT":
            if not body.text[lines.starts[first] : token.start].strip():
                _comment(found, comments, first)
            continue
        if token.kind == "_NL":
            continue
        _run(found, comments)
        last = lines.line(token.end)
        _bracket(found, opened, token, first, last)
    _run(found, comments)
    is_import = body.text.startswith("import") and not body.text[6:7].isidentifier()
    return tuple(dict.fromkeys(found)), len(lines.starts) - 1, is_import, last


def _bracket(found: list[Fold], opened: list[int], token: Token, first: int, last: int) -> None:
    if token.kind in _OPENERS:
        opened.append(first)
    elif token.kind in _CLOSERS and opened:
        begin = opened.pop()
        if first - 1 > begin:
            found.append(Fold(begin, first - 1, "region"))
    elif token.kind == "TEXT" and last - 1 > first:
        found.append(Fold(first, last - 1, "region"))


def _comment(found: list[Fold], comments: list[int], line: int) -> None:
    if comments and line != comments[-1] + 1:
        _run(found, comments)
    comments.append(line)


def _run(found: list[Fold], comments: list[int]) -> None:
    if len(comments) > 1:
        found.append(Fold(comments[0], comments[-1], "comment"))
    comments.clear()
