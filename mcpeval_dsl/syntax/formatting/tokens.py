"""Formatting, step 1: a file's text -> its words, and what stands between them: line breaks, `;` and comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mcpeval_dsl.syntax.machine import END
from mcpeval_dsl.syntax.parser import ParsedPiece, parse_piece
from mcpeval_dsl.syntax.split import split

_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})


Pieces = Iterable[tuple[int, ParsedPiece]]
"""Where each piece of a text begins, and what it says."""


class Gap(NamedTuple):
    """What stands between two words, blanks apart. `trailing` is the comment on the line of the first one.

    `own` holds each comment on a line of its own, with whether an empty line stands before it; `blank` says whether one
    stands before the second word. `ends` is True where a `;` is written.
    """

    trailing: str = ""
    own: tuple[tuple[bool, str], ...] = ()
    blank: bool = False
    newline: bool = False
    ends: bool = False

    @property
    def commented(self) -> bool:
        return bool(self.trailing or self.own)


NOTHING = Gap()


class Word(NamedTuple):
    """A token that is no line break and no comment, with the gap before it. The last one of a file is `$END`."""

    kind: str
    text: str
    start: int
    gap: Gap


def read(text: str, pieces: Pieces | None = None) -> list[Word] | None:
    """The words of `text` without the last commas of brackets, and an `$END`; None where the text has syntax errors.

    `pieces` are those it is in where they are known already. The first and the last may reach beyond it by line breaks and
    comments, and begin before it then.
    """
    words: list[Word] = []
    position = 0
    for base, piece in _pieces(text) if pieces is None else pieces:
        for kind, start, end, _ in piece.tokens:
            first, last = base + start, base + end
            if kind == "_NL" or kind == END or first < 0 or last > len(text):
                continue
            gap = NOTHING if first == position else _gap(text[position:first], not words)
            words.append(Word(kind, text[first:last], first, gap))
            position = last
        if any(problem.severity == "error" for problem in piece.problems):
            return None
    words.append(Word(END, "", len(text), _gap(text[position:], not words)))
    return _without_last_commas(words)


def _without_last_commas(words: list[Word]) -> list[Word]:
    """The comma behind the last element of a bracket is the layout's matter; its comment stays."""
    kept: list[Word] = []
    for word in words:
        if kept and kept[-1].kind == "COMMA" and word.kind in _CLOSING:
            word = word._replace(gap=merged(kept.pop().gap, word.gap))
        kept.append(word)
    return kept


def merged(first: Gap, second: Gap) -> Gap:
    """The gaps before and behind a comma as one: comments stand behind it, since each line ends with its comma."""
    if not first.commented:
        return second
    trailing = ((False, second.trailing),) if second.trailing else ()
    return Gap(first.trailing, (*first.own, *trailing, *second.own), second.blank, True)


def _pieces(text: str) -> Iterator[tuple[int, ParsedPiece]]:
    for piece in split(text):
        yield piece.start, parse_piece(text[piece.start : piece.end])


def _gap(text: str, begins: bool) -> Gap:
    """The gap that `text` is; `begins` for the one before the first word, where no comment trails anything."""
    if "\n" not in text and "#" not in text and ";" not in text:
        return NOTHING
    trailing, ends = "", False
    own: list[tuple[bool, str]] = []
    blank = False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code, mark, comment = line.partition("#")
        ends = ends or ";" in code
        if mark and number == 0 and not begins:
            trailing = (mark + comment).rstrip()
        elif mark:
            own.append((blank, (mark + comment).rstrip()))
            blank = False
        elif 0 < number < len(lines) - 1 and ";" not in code:
            blank = True
    return Gap(trailing, tuple(own), blank, len(lines) > 1, ends)
