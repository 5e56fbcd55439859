"""Language server, first: a text -> its top-level parts, each scanned and read once for as long as its text stays.

What belongs to a part counts offsets from the part's start, so an edit touches only the part it is made in: the others
move without being read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.build import build
from mcpeval_dsl.syntax.parser import ParsedPiece, parse_piece
from mcpeval_dsl.syntax.problems import Problem
from mcpeval_dsl.syntax.scanner import Token, scan
from mcpeval_dsl.syntax.split import split
from mcpeval_dsl.syntax.tree import Statement


class Body:
    """What the text of one part says; all spans and offsets are relative to its start, in `file`, which is the part alone."""

    def __init__(self, path: str, text: str) -> None:
        self.text = text
        self.file = SourceFile(path, text)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Everything as it is written, comments (COMMENT), newlines (_NL) and misfits (JUNK) among it."""
        return scan(self.text).items

    @cached_property
    def parsed(self) -> ParsedPiece:
        return parse_piece(self.text)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """What could be read: usually one statement; what is half-typed is mended or left out."""
        parsed = self.parsed
        return build(self.text, parsed.tokens, parsed.program, parsed.dropped, self.file, 0)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.parsed.problems


@dataclass(frozen=True, slots=True)
class Part:
    """A body at its place in a text."""

    start: int
    body: Body

    @property
    def end(self) -> int:
        return self.start + len(self.body.text)


@lru_cache(maxsize=8192)
def _body(path: str, text: str) -> Body:
    return Body(path, text)


def parts_of(path: str, text: str) -> tuple[Part, ...]:
    """Parts that cover `text` without a gap."""
    return tuple(Part(piece.start, _body(path, text[piece.start : piece.end])) for piece in split(text))
