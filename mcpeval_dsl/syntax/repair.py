"""Syntax, inside step 3: the smallest edit of the token list with which a broken statement reads on to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcpeval_dsl.syntax.layout import begins_line
from mcpeval_dsl.syntax.machine import CLOSERS, END, Machine
from mcpeval_dsl.syntax.scanner import Token

_ENOUGH = 24  # tokens behind the error that make a repair believable, in statements longer than that
_LONGEST = 4_000  # tokens of a statement beyond which no repair is sought: it would cost too much
_REMOVABLE = frozenset({"COLON", "COMMA", "EQUAL", "RPAR", "RSQB"})


@dataclass(frozen=True, slots=True)
class Repair:
    """`remove` tokens at `at` become `tokens`; `name` chooses the message."""

    name: str
    at: int
    remove: int
    tokens: tuple[Token, ...]


def find(text: str, tokens: list[Token], checkpoint: Machine, first: int, error: int) -> Repair | None:
    """The first repair, in order of likelihood, that works; None where none does."""
    if error - first > _LONGEST or first > error:
        return None
    reached = checkpoint.trial()
    number = first
    while number < error:
        if not (tokens[number].kind == "_NL" and reached.skips(tokens, number, text)):
            if not reached.feed(tokens[number].kind, number):
                return None
        number += 1
    for candidate in _candidates(text, tokens, reached, error):
        if _works(text, tokens, checkpoint, first, error, candidate):
            return candidate
    return None


def _candidates(text: str, tokens: list[Token], machine: Machine, error: int) -> Iterator[Repair]:
    kind, start = tokens[error].kind, tokens[error].start
    last = error
    while last > 0 and tokens[last - 1].kind == "_NL":
        last -= 1
    place = tokens[last - 1].end if last else start
    opener = machine.openers[-1][0] if machine.openers else ""
    closer = CLOSERS.get(opener, "")
    comma = Repair("comma", last, 0, (Token("COMMA", place, place),))
    close = Repair("close", last, 0, (Token(closer, place, place),))
    closes = opener not in ("", "LBRACE")
    if kind in ("RPAR", "RSQB") and closes and kind != closer:
        yield Repair("swap", error, 1, (Token(closer, start, tokens[error].end),))
    if closes and begins_line(text, start):
        yield close
    if closes:
        yield comma
        yield close
    if machine.previous == "COMMA" and kind in ("RBRACE", END):
        yield Repair("last_comma", _before(tokens, error), 1, ())
    if kind in _REMOVABLE:
        yield Repair(f"remove_{kind.lower()}", error, 1, ())


def _before(tokens: list[Token], number: int) -> int:
    number -= 1
    while tokens[number].kind == "_NL":
        number -= 1
    return number


def _works(text: str, tokens: list[Token], checkpoint: Machine, first: int, error: int, repair: Repair) -> bool:
    """Whether the statement, so mended, is read to its end."""
    far = error + _ENOUGH
    ahead = tokens[first : min(len(tokens), far + 200)]
    at = repair.at - first
    ahead[at : at + repair.remove] = repair.tokens
    if ahead[-1].kind != END:
        ahead.append(Token(END, len(text), len(text)))
    machine = checkpoint.trial()
    depth = len(machine.openers)
    enough = error - first + _ENOUGH
    for number, token in enumerate(ahead):
        if token.kind == "_NL" and machine.skips(ahead, number, text):
            continue
        if not machine.feed(token.kind, number):
            return False
        if number > error - first and (
            token.kind == END or len(machine.openers) < depth or (token.kind == "_NL" and len(machine.openers) <= depth)
        ):
            return True
        if number >= enough:
            return True
    return True
