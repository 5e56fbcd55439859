"""Syntax, inside step 3: lines and indentation, used only to find where a broken statement or block ends."""

from __future__ import annotations

from mcpeval_dsl.source import LineIndex
from mcpeval_dsl.syntax.scanner import Token

OPENING_BRACES = frozenset({"LBRACE", "_OBJ"})
_OPEN = frozenset({"LPAR", "LSQB", "_IDX"})
_CLOSE = frozenset({"RPAR", "RSQB"})


class Lines:
    """Lines of a text with their indentation, found by bisection."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = LineIndex(text)
        self._indents: dict[int, int] = {}

    def number(self, offset: int) -> int:
        return self.index.position(offset)[0]

    def indent(self, offset: int) -> int:
        """Width of the blanks that begin the line of `offset`."""
        line = self.number(offset)
        known = self._indents.get(line)
        if known is None:
            start = end = self.index.starts[line - 1]
            while end < len(self.text) and self.text[end] in " \t":
                end += 1
            known = self._indents[line] = end - start
        return known

    def begins(self, offset: int) -> bool:
        """Whether only blanks stand before `offset` on its line."""
        return self.index.position(offset)[1] - 1 == self.indent(offset)


def statement_end(lines: Lines, tokens: list[Token], begin: int, error: int) -> int:
    """Number of the token that ends the statement at `begin`, which is broken at `error`: a newline, a block's `{`, a
    `}` that closes what lies outside, or the end."""
    margin = lines.indent(tokens[begin].start)
    depth = objects = 0
    for number in range(begin, len(tokens)):
        kind = tokens[number].kind
        if kind == "$END" or (kind == "RBRACE" and objects == 0):
            return number
        if kind in _OPEN:
            depth += 1
        elif kind in _CLOSE:
            depth = max(0, depth - 1)
        elif kind in OPENING_BRACES:
            if kind == "LBRACE" and number >= error and objects == 0:
                return number
            objects += 1
        elif kind == "RBRACE":
            objects -= 1
        elif kind == "_NL" and number >= error and objects == 0:
            following = tokens[next_line(tokens, number)]
            if depth == 0 or lines.indent(following.start) <= margin:
                return number
    return len(tokens) - 1


def next_line(tokens: list[Token], number: int) -> int:
    """Number of the first token behind the newlines at `number`."""
    while tokens[number].kind == "_NL":
        number += 1
    return number


def behind_braces(tokens: list[Token], opening: int) -> int:
    """Number of the token behind the `}` that closes the `{` at `opening`."""
    depth = 0
    for number in range(opening, len(tokens)):
        kind = tokens[number].kind
        if kind in OPENING_BRACES:
            depth += 1
        elif kind == "RBRACE":
            depth -= 1
            if depth == 0:
                return number + 1
    return len(tokens) - 1
