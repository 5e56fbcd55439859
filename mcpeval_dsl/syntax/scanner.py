"""Syntax, step 2: text of one block -> tokens. Lossless: between tokens there are only blanks.

Terminals come from the grammar. Where none fits, `misfits` says what was meant; the token then carries the mended
text, so that the parser goes on as if it had been written so.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax import misfits
from mcpeval_dsl.syntax.problems import Problem
from mcpeval_dsl.syntax.tables import scan_pattern, terminal


class Token(NamedTuple):
    """`kind` is a terminal of the grammar, or COMMENT or JUNK; `mended` replaces the text where that was wrong."""

    kind: str
    start: int
    end: int
    mended: str | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """All tokens of a text, comments and newlines among them."""

    text: str
    items: tuple[Token, ...]
    problems: tuple[Problem, ...]

    def joined(self) -> str:
        """The text again, made of tokens and the blanks between them."""
        parts: list[str] = []
        position = 0
        for token in self.items:
            parts += (self.text[position : token.start], self.text[token.start : token.end])
            position = token.end
        return "".join(parts) + self.text[position:]


WORDS = frozenset({"NAME", "GLOB", "STRING", "RAW", "TEXT", "NUMBER", "REGEX", "JSONPATH", "METRIC"})
AFTER_OPERAND = WORDS | {"RPAR", "RSQB"}
INDEXABLE = frozenset({"NAME", "GLOB", "RPAR", "RSQB"})
_VALUE_FOLLOWS = re.compile(r"[ \t]*(?:[\w\"'/$\[*“„-]|\{[ \t]*\})")
_LINE_ENDS = re.compile(r"[ \t]*(?:\r?(?:\n|\Z)|#)")
_BLANKS = re.compile(r"[ \t\r]*")


def scan(text: str) -> Tokens:
    """Tokens of `text`. Never fails: what fits nowhere becomes a mended or a JUNK token with a problem."""
    return _Scan(text).run()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.items: list[Token] = []
        self.problems: list[Problem] = []
        self.previous = ""  # kind of the last significant token; newlines do not count, ";" does
        self.before = ""  # the one before it
        self.line_has_problem = False

    def run(self) -> Tokens:
        text, items, match = self.text, self.items, scan_pattern().match
        position = last_end = 0
        while True:
            found = match(text, position)
            if found is None:
                position = last_end = self.misfit(position)
                continue
            kind = found.lastgroup or "END"
            start, position = found.start(kind), found.end()
            if kind == "END":
                break
            if kind == "_NL":
                items.append(Token(kind, start, position))
                self.line_has_problem = False
                if text[start] == ";":
                    self.previous = ";"
                last_end = -1
                continue
            if kind == "COMMENT":
                items.append(Token(kind, start, position))
                last_end = -1
                continue
            if start == last_end and kind in WORDS and self.touches(kind):
                position = last_end = self.touching(start)
                continue
            if kind == "LBRACE" and misfits.TEMPLATE.match(text, start):
                position = last_end = self.mend(misfits.unquoted(text, self.glued(start), start))
                continue
            if kind == "CMP":
                kind, position = self.operator(start, position)
            elif kind == "LSQB" and start == last_end and self.indexable():
                kind = "_IDX"
            elif kind == "_OBJ" and misfits.block_with_colons(text, start):
                kind = "LBRACE"
            elif kind == "NUMBER" and position - start > misfits.LONGEST_NUMBER:
                position = last_end = self.mend(misfits.long_number(text, start, position))
                continue
            elif kind in _STRINGS:
                self.problems.extend(misfits.inside_string(text, start, position))
            self.add(Token(kind, start, position))
            last_end = position
        return Tokens(text, tuple(items), tuple(self.problems))

    def add(self, token: Token) -> None:
        self.items.append(token)
        self.before, self.previous = self.previous, token.kind

    def touches(self, kind: str) -> bool:
        return self.previous in WORDS or (kind == "REGEX" and self.previous == "DOT")

    def indexable(self) -> bool:
        return self.previous in INDEXABLE or (self.previous == "STRING" and self.before == "DOT")

    def operator(self, start: int, end: int) -> tuple[str, int]:
        """A word operator stands after an operand and before a value; anywhere else it is a name."""
        if not self.text[start].isalpha():
            return "CMP", end
        behind_object = self.previous == "RBRACE" and self.items[-1].kind == "RBRACE"
        if (self.previous in AFTER_OPERAND or behind_object) and self.value_follows(end):
            return "CMP", end
        name = terminal("NAME").match(self.text, start)
        assert name is not None
        return "NAME", name.end()

    def value_follows(self, end: int) -> bool:
        """Whether a value stands behind a word operator, or is plainly missing: `grade x has` ends its line."""
        if _VALUE_FOLLOWS.match(self.text, end) or terminal("_OBJ").match(self.text, _skip_blanks(self.text, end)):
            return True
        return bool(_LINE_ENDS.match(self.text, end)) and not self.behind_head()

    def behind_head(self) -> bool:
        """Whether the last token is the first word of a statement."""
        if len(self.items) < 2:
            return True
        return self.items[-2].kind in ("_NL", "LBRACE", "COMMENT")

    def misfit(self, position: int) -> int:
        """No terminal fits here: report it once per line and go on behind it."""
        start = _skip_blanks(self.text, position)
        first = self.glued(start) if self.text[start] not in _QUOTES else start
        if first < start:
            return self.mend(misfits.unquoted(self.text, first, start))
        return self.mend(misfits.diagnose(self.text, start))

    def touching(self, start: int) -> int:
        """Two words without a blank between them: one text that wants quotes, or two that want a blank."""
        if self.text[start] in _QUOTES or self.items[-1].kind in _STRINGS:
            first = self.items.pop()
            return self.mend(misfits.touching(self.text, first.start, start))
        return self.mend(misfits.unquoted(self.text, self.glued(start), start))

    def glued(self, start: int) -> int:
        """Take back the tokens that touch `start` and look like the beginning of a text without quotes: `http:`, `a.`."""
        items, first = self.items, start
        while items and items[-1].end == first and start - first < misfits.LONGEST_RUN:
            last = items[-1]
            if last.kind not in _IN_A_RUN and not (last.kind == "CMP" and self.text[last.start] == "~"):
                break
            first = last.start
            items.pop()
        self.previous = next((t.kind for t in reversed(items[-3:]) if t.kind not in ("COMMENT", "JUNK")), "")
        if self.previous == "_NL":
            self.previous = ";"
        return first

    def mend(self, misfit: misfits.Misfit) -> int:
        if not self.line_has_problem:
            self.problems.append(misfit.problem)
            self.line_has_problem = True
        token = Token(misfit.kind, misfit.start, misfit.end, misfit.mended)
        if misfit.kind in ("JUNK", "COMMENT"):
            self.items.append(token)
        else:
            self.add(token)
        return misfit.end


_STRINGS = frozenset({"STRING", "RAW", "TEXT"})
_IN_A_RUN = frozenset({"NAME", "GLOB", "NUMBER", "METRIC", "COLON", "DOT"})
_QUOTES = "\"'“”„‘’`"


def _skip_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    assert blanks is not None
    return blanks.end()
