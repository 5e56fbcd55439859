"""Syntax, inside step 3: the words for an error, from `grammar/messages.toml` by parser state, token and repair."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.syntax.machine import Machine
from mcpeval_dsl.syntax.problems import Fix, Problem
from mcpeval_dsl.syntax.repair import Repair
from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.tables import load

_SIGNS = {
    "LPAR": "(",
    "LSQB": "[",
    "_IDX": "[",
    "LBRACE": "{",
    "_OBJ": "{",
    "RPAR": ")",
    "RSQB": "]",
    "RBRACE": "}",
    "COMMA": ",",
    "COLON": ":",
    "CMP": "==",
}


def problem(text: str, tokens: list[Token], machine: Machine, number: int, repair: Repair | None) -> Problem:
    """The one problem for the error at token `number`, worded for its repair or else for the parser's state."""
    token = tokens[number]
    words = {
        "found": _shown(text, token),
        "last": _last(text, tokens, number),
        "opener": _SIGNS[machine.openers[-1][0]] if machine.openers else "",
        "closer": _closer(machine),
    }
    labels: tuple[tuple[int, int, str], ...] = ()
    if machine.openers and machine.openers[-1][0] != "LBRACE":
        opening = tokens[machine.openers[-1][1]]
        labels = ((opening.start, opening.end, f"{words['opener']} opened here"),)
    start, end = token.start, max(token.end, token.start + (token.kind != "$END"))
    if repair is not None:
        entry: dict[str, Any] = load().repairs[repair.name]
        fix = _fix(tokens, repair)
        if repair.name in ("comma", "close", "last_comma", "unquote"):
            start, end = _place(tokens, repair)
    else:
        entry = _entry(machine, token.kind)
        fix = None
        if token.kind in ("_NL", "$END", "RBRACE") and number:
            previous = tokens[number - 1]
            start, end = previous.start, previous.end
    return Problem(
        entry["code"],
        start,
        end,
        _filled(entry["title"], words),
        _filled(entry.get("body", ""), words),
        _filled(entry.get("hint", ""), words),
        fix,
        labels,
    )


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace("{" + name + "}", word)
    return text


def _entry(machine: Machine, kind: str) -> dict[str, Any]:
    tables = load()
    entry = tables.messages[tables.state_messages[machine.states[-1]]]
    for special in entry.get("found", ()):
        if kind in special["kinds"]:
            return {**entry, **special}
    return entry


def _fix(tokens: list[Token], repair: Repair) -> Fix:
    place = tokens[repair.at] if repair.remove else repair.tokens[0]
    return Fix(place.start, place.end, "".join(token.mended or _SIGNS[token.kind] for token in repair.tokens))


def _place(tokens: list[Token], repair: Repair) -> tuple[int, int]:
    token = tokens[repair.at if repair.remove else repair.at - 1]
    return token.start, token.end


def _closer(machine: Machine) -> str:
    if not machine.openers:
        return ""
    return {"(": ")", "[": "]", "{": "}"}[_SIGNS[machine.openers[-1][0]]]


def _shown(text: str, token: Token) -> str:
    """The token as the user sees it."""
    if token.kind == "$END":
        return "the end"
    if token.kind == "_NL":
        return "the end of the line" if text[token.start : token.start + 1] != ";" else "`;`"
    word = text[token.start : token.end].split("\n")[0]
    return f"`{word if len(word) <= 30 else word[:27] + '…'}`"


def _last(text: str, tokens: list[Token], number: int) -> str:
    """The token before, newlines aside."""
    number -= 1
    while number >= 0 and tokens[number].kind == "_NL":
        number -= 1
    return _shown(text, tokens[number]) if number >= 0 else "the beginning"
