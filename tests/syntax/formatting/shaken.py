"""A spec that somebody wrote without care: the same words, other blanks, line breaks and comments."""

from __future__ import annotations

import random

from mcpeval_dsl.syntax.scanner import scan

_OPENING = frozenset({"LPAR", "LSQB", "_IDX", "_OBJ"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_BETWEEN = ("\n", "\n\n\n\n", " # shaken\n", "\n\t# own\n\n", "\n# a\n# b\n", ";\n", " ;; ")
_INSIDE = (" ", "   ", "\t", "\n", "\n\n", " # inside\n", "\n  # own\n  ")


def shaken(text: str, seed: str) -> str:
    """`text` with other gaps. Where a line break would mean something, none is added and none is taken away."""
    source = random.Random(seed)
    parts: list[str] = []
    brackets: list[str] = []
    position, previous = 0, ""
    items = scan(text).items
    for number, token in enumerate(items):
        gap = text[position : token.start]
        word = text[token.start : token.end]
        position = token.end
        if token.kind == "_NL":
            following = next((t.kind for t in items[number + 1 :] if t.kind not in ("_NL", "COMMENT")), "")
            vanishes = brackets and brackets[-1] in _OPENING
            plain = vanishes or previous in ("COMMA", "LBRACE", "_NL", "COMMENT", "") or following in ("CMP", "")
            parts.append(gap + ("\n" if plain else source.choice(_BETWEEN)))
        else:
            inside = bool(brackets) and brackets[-1] in _OPENING and bool(gap) and previous not in ("CMP", "COMMENT")
            parts.append(source.choice(_INSIDE) if inside and source.random() < 0.2 else _blanks(gap, source))
            parts.append(word)
        if token.kind in _OPENING or token.kind == "LBRACE":
            brackets.append(token.kind)
        elif token.kind in _CLOSING:
            brackets.pop()
        previous = token.kind
    return "".join(parts) + text[position:]


def _blanks(gap: str, source: random.Random) -> str:
    return source.choice((gap, gap, gap + "  ", "\t" + gap)) if gap else ""
