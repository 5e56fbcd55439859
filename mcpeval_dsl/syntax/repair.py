"""Syntax, inside step 3: the smallest edit of the token list with which a broken statement reads on to its end."""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax.layout import Lines
from mcpeval_dsl.syntax.machine import CLOSERS, END, Machine, Snapshot
from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.tables import terminal

_ENOUGH = 24  # tokens behind the error that make a repair believable, in statements longer than that
_BELIEVABLE = 3  # the same where the statement has another mistake further on
_LONGEST = 4_000  # tokens of a statement beyond which no repair is sought: it would cost too much
REMOVABLE = frozenset({"COLON", "COMMA", "EQUAL", "RPAR", "RSQB"})


@dataclass(frozen=True, slots=True)
class Repair:
    """`remove` tokens at `at` become `tokens`; `name` chooses the message."""

    name: str
    at: int
    remove: int
    tokens: tuple[Token, ...]


def find(lines: Lines, tokens: list[Token], checkpoint: Snapshot, first: int, error: int) -> Repair | None:
    """The first repair, in order of likelihood, that works; None where none does."""
    if error - first > _LONGEST or first > error:
        return None
    reached = checkpoint.machine()
    number = first
    while number < error:
        if (following := reached.next(tokens, number, lines.text)) != number:
            number = following
        elif reached.feed(tokens[number].kind, number):
            number += 1
        else:
            return None
    best, farthest = None, _BELIEVABLE - 1
    for candidate in _candidates(lines, tokens, reached, error):
        reads = _reads_on(lines.text, tokens, checkpoint, first, error, candidate)
        if reads > farthest:
            best, farthest = candidate, reads
    return best


def _candidates(lines: Lines, tokens: list[Token], machine: Machine, error: int) -> Iterator[Repair]:
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
    brace = opener == "_OBJ"  # braces pair up already, so none is missing here
    if closes and not brace and lines.begins(start):
        yield close
    if closes:
        yield comma
    if closes and not brace:
        yield close
    before = tokens[last - 1]
    if kind in ("DOT", "LPAR") and last == error and before.kind == "STRING":
        word = lines.text[before.start + 1 : before.end - 1]
        if terminal("NAME").fullmatch(word):
            yield Repair("unquote", error - 1, 1, (Token("NAME", before.start, before.end, word),))
    if kind == "EQUAL" and closes:
        yield Repair("colon_for_equal", error, 1, (Token("COLON", start, tokens[error].end),))
    if kind == "EQUAL":
        yield Repair("compare_for_equal", error, 1, (Token("CMP", start, tokens[error].end, "=="),))
    if machine.previous == "COMMA" and kind in ("RBRACE", END):
        yield Repair("last_comma", _before(tokens, error), 1, ())
    closes_one = any(CLOSERS[open_] == kind for open_, _ in machine.openers)
    if kind in REMOVABLE and not closes_one and not (kind == "COLON" and closes):
        yield Repair(f"remove_{kind.lower()}", error, 1, ())


def _before(tokens: list[Token], number: int) -> int:
    number -= 1
    while tokens[number].kind == "_NL":
        number -= 1
    return number


def _reads_on(text: str, tokens: list[Token], checkpoint: Snapshot, first: int, error: int, repair: Repair) -> int:
    """How many tokens behind the error the statement, so mended, is read; `_ENOUGH` where that is to its end."""
    ahead = tokens[first : error + 2 * _ENOUGH]
    at = repair.at - first
    ahead[at : at + repair.remove] = repair.tokens
    ahead.append(Token(END, len(text), len(text)))
    machine = checkpoint.machine()
    depth = len(machine.openers)
    behind = error - first + len(repair.tokens) - repair.remove
    number = 0
    while number < len(ahead):
        token = ahead[number]
        if (following := machine.next(ahead, number, text)) != number:
            number = following
            continue
        if not machine.feed(token.kind, number):
            return _ENOUGH if token.kind == END else number - behind
        ended = token.kind in ("_NL", END) and len(machine.openers) <= depth
        if number > behind and (ended or len(machine.openers) < depth):
            return _ENOUGH
        if number - behind >= _ENOUGH:
            break
        number += 1
    return _ENOUGH
