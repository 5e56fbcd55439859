"""Syntax, inside step 3: lines and indentation, used only to find where a broken statement ends."""

from __future__ import annotations

from mcpeval_dsl.syntax.scanner import Token

_OPEN = frozenset({"LPAR", "LSQB", "_IDX"})
_CLOSE = frozenset({"RPAR", "RSQB"})


def indent(text: str, offset: int) -> int:
    """Width of the blanks that begin the line of `offset`."""
    start = text.rfind("\n", 0, offset) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return end - start


def begins_line(text: str, offset: int) -> bool:
    """Whether only blanks stand before `offset` on its line."""
    start = text.rfind("\n", 0, offset) + 1
    return not text[start:offset].strip()


def statement_end(text: str, tokens: list[Token], begin: int, error: int) -> int:
    """Number of the token that ends the statement at `begin`, which is broken at `error`: a newline, a block's `{`, a
    `}` that closes what lies outside, or the end."""
    margin = indent(text, tokens[begin].start)
    depth = objects = 0
    number = begin
    while True:
        kind = tokens[number].kind
        if kind == "$END":
            return number
        if kind in _OPEN:
            depth += 1
        elif kind in _CLOSE:
            depth = max(0, depth - 1)
        elif kind == "_OBJ":
            objects += 1
        elif kind == "LBRACE" and number >= error:
            return number
        elif kind == "LBRACE":
            objects += 1
        elif kind == "RBRACE":
            if objects == 0:
                return number
            objects -= 1
        elif kind == "_NL" and number >= error and objects == 0:
            following = number + 1
            while tokens[following].kind == "_NL":
                following += 1
            if depth == 0 or indent(text, tokens[following].start) <= margin:
                return number
        number += 1


def behind_braces(tokens: list[Token], opening: int) -> int:
    """Number of the token behind the `}` that closes the `{` at `opening`."""
    depth = 0
    for number in range(opening, len(tokens)):
        kind = tokens[number].kind
        if kind in ("LBRACE", "_OBJ"):
            depth += 1
        elif kind == "RBRACE":
            depth -= 1
            if depth == 0:
                return number + 1
    return len(tokens) - 1
