"""Syntax, for people: a statement on one line, without its comments and however it was laid out."""

from __future__ import annotations

from mcpeval_dsl.syntax.scanner import Token, scan

GLUED_BEFORE = frozenset({"COMMA", "COLON", "DOT", "LPAR", "_IDX", "RPAR", "RSQB"})
GLUED_AFTER = frozenset({"DOT", "LPAR", "LSQB", "_IDX", "_OBJ"})
_OPENING = frozenset({"LPAR", "LSQB", "_IDX", "_OBJ"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})


def one_line(text: str) -> str:
    """The words of `text`, which is a statement, with the blanks of the canonical form between them."""
    parts: list[str] = []
    brackets: list[str] = []
    previous, ended = "", False
    for token in scan(text).items:
        kind = token.kind
        if kind in ("COMMENT", "JUNK"):
            continue
        if kind == "_NL":
            ended = not (brackets and brackets[-1] in _OPENING)
            continue
        object_ends = kind == "RBRACE" and bool(brackets) and brackets[-1] == "_OBJ"
        if kind in _CLOSING and previous == "COMMA":
            parts.pop()
        if ended and previous not in ("COMMA", "LBRACE", "") and kind not in ("CMP", "RBRACE"):
            parts.append(";")
        ended = False
        glued = kind in GLUED_BEFORE or previous in GLUED_AFTER or object_ends
        parts.append(_word(text, token) if glued or not parts else " " + _word(text, token))
        if kind in _OPENING or kind == "LBRACE":
            brackets.append(kind)
        elif kind in _CLOSING and brackets:
            brackets.pop()
        previous = kind
    return "".join(parts).replace("{ }", "{}")


def _word(text: str, token: Token) -> str:
    word = text[token.start : token.end]
    return " ".join(word.split()) if token.kind in ("TEXT", "CMP") else word
