"""Single mistakes of thirteen kinds, seeded into a text that is right.

`mistakes(text, seed, per_kind)` gives up to `per_kind` of each. Every place is found with the scanner's tokens, so that
none lies inside a text or a comment.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mcpeval_dsl.syntax.scanner import Token, scan

WRONG_UNITS = {
    "s": "sec",
    "ms": "msec",
    "m": "min",
    "h": "hrs",
    "k": "thousand",
    "KB": "kb",
    "MB": "mbyte",
    "%": "percent",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """`text` is the whole text with one mistake of `kind` at `offset`."""

    kind: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Edit:
    start: int
    end: int
    text: str


class Places:
    """A text with its tokens and lines, as the kinds of mistakes need them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [t for t in scan(text).items if t.kind != "COMMENT"]
        self.heads = {i for i, t in enumerate(self.tokens) if t.kind == "NAME" and self._begins_statement(i)}

    def word(self, token: Token) -> str:
        return self.text[token.start : token.end]

    def kind(self, number: int) -> str:
        return self.tokens[number].kind if 0 <= number < len(self.tokens) else ""

    def _begins_statement(self, number: int) -> bool:
        before = self.kind(number - 1)
        if before == "_NL":
            return self.kind(number - 2) != "COMMA"
        return before in ("LBRACE", "")

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """(start, end, number of the first token) of each line that is one whole statement without a block of its own."""
        for head in sorted(self.heads):
            end, depth = head, 0
            while self.kind(end) not in ("_NL", "") or depth:
                depth += self.kind(end) in ("LPAR", "LSQB", "_IDX", "LBRACE", "_OBJ")
                depth -= self.kind(end) in ("RPAR", "RSQB", "RBRACE")
                if depth < 0:
                    break
                end += 1
            start = self.text.rfind("\n", 0, self.tokens[head].start) + 1
            stop = self.tokens[end].start if end < len(self.tokens) else len(self.text)
            whole = self.text[start : self.tokens[head].start].strip() == "" and "\n" not in self.text[
                start:stop
            ].rstrip("\n")
            if whole and depth == 0 and self.text[start] in " \t":
                yield start, stop, head


def _comma_forgotten(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        if token.kind == "COMMA":
            yield Edit(token.start, token.end, "")


def _comma_at_line_end(p: Places) -> Iterator[Edit]:
    for _, stop, head in p.lines():
        if p.kind(head + 1) in ("NAME", "STRING", "NUMBER", "GLOB"):
            yield Edit(stop, stop, ",")


def _directive_misspelt(p: Places) -> Iterator[Edit]:
    for head in sorted(p.heads):
        token = p.tokens[head]
        word = p.word(token)
        if len(word) > 3 and p.kind(head + 1) not in ("EQUAL", "DOT"):
            yield Edit(token.start, token.end, word[:-2] + word[-1] + word[-2] if word[-1] != word[-2] else word + "x")


def _equals_for_directive(p: Places) -> Iterator[Edit]:
    for head in sorted(p.heads):
        if p.kind(head + 1) in ("STRING", "NUMBER", "NAME"):
            yield Edit(p.tokens[head].end, p.tokens[head].end, " =")


def _colon_for_directive(p: Places) -> Iterator[Edit]:
    for head in sorted(p.heads):
        if p.kind(head + 1) in ("STRING", "NUMBER"):
            yield Edit(p.tokens[head].end, p.tokens[head].end, ":")


def _single_quotes(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        if token.kind == "STRING" and "'" not in p.word(token):
            yield Edit(token.start, token.end, f"'{p.word(token)[1:-1]}'")


def _lost_brace(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        if token.kind == "RBRACE":
            yield Edit(token.start, token.end, "")


def _quotes_forgotten(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        if token.kind == "STRING" and re.fullmatch(r'"[A-Za-z_]\w*"', p.word(token)):
            yield Edit(token.start, token.end, p.word(token)[1:-1])


def _quotes_round_a_word(p: Places) -> Iterator[Edit]:
    for number, token in enumerate(p.tokens):
        if token.kind == "NAME" and number not in p.heads and p.kind(number + 1) not in ("LPAR", "COLON", "CMP"):
            yield Edit(token.start, token.end, f'"{p.word(token)}"')


def _word_twice(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        if token.kind in ("NAME", "STRING", "NUMBER"):
            yield Edit(token.end, token.end, " " + p.word(token))


def _two_on_a_line(p: Places) -> Iterator[Edit]:
    starts = [start for start, _, _ in p.lines()]
    for _, stop, _ in p.lines():
        following = stop + 1
        if following in starts and p.text[stop : stop + 1] == "\n":
            yield Edit(stop, following, " ")


def _wrong_unit(p: Places) -> Iterator[Edit]:
    for token in p.tokens:
        found = re.fullmatch(r"([\d._]+)([A-Za-z%]+)", p.word(token)) if token.kind == "NUMBER" else None
        if found and found[2] in WRONG_UNITS:
            yield Edit(token.start, token.end, found[1] + WRONG_UNITS[found[2]])


def _line_moved(p: Places, choose: random.Random) -> Iterator[tuple[Edit, Edit]]:
    """A statement taken out of its block and put at the beginning of another."""
    openings = [t.end for i, t in enumerate(p.tokens) if t.kind == "LBRACE" and p.kind(i + 1) == "_NL"]
    for start, stop, _ in p.lines():
        block = max((o for o in openings if o < start), default=-1)
        others = [o for o in openings if o != block and not start <= o <= stop]
        if others:
            at = choose.choice(others)
            yield Edit(start, stop + 1, ""), Edit(at, at, "\n" + p.text[start:stop])


KINDS: dict[str, Callable[[Places], Iterator[Edit]]] = {
    "comma forgotten": _comma_forgotten,
    "comma at the end of a line": _comma_at_line_end,
    "directive misspelt": _directive_misspelt,
    "= behind a directive": _equals_for_directive,
    "colon behind a directive": _colon_for_directive,
    "single quotes": _single_quotes,
    "lost brace": _lost_brace,
    "quotes forgotten": _quotes_forgotten,
    "quotes round a word": _quotes_round_a_word,
    "word twice": _word_twice,
    "two statements on a line": _two_on_a_line,
    "wrong unit": _wrong_unit,
}
MOVED = "line moved"


def mistakes(text: str, seed: int, per_kind: int) -> list[Mistake]:
    """Up to `per_kind` mistakes of each kind, the same for the same seed."""
    choose = random.Random(seed)
    places = Places(text)
    found: list[Mistake] = []
    for kind, find in KINDS.items():
        edits = list(find(places))
        for edit in choose.sample(edits, min(per_kind, len(edits))):
            found.append(Mistake(kind, text[: edit.start] + edit.text + text[edit.end :], edit.start))
    moves = list(_line_moved(places, choose))
    for move in choose.sample(moves, min(per_kind, len(moves))):
        changed = text
        for edit in sorted(move, key=lambda e: e.start, reverse=True):
            changed = changed[: edit.start] + edit.text + changed[edit.end :]
        found.append(Mistake(MOVED, changed, move[0].start))
    return found
