"""Syntax, step 3: tokens of one piece -> a program for the builder, and every error of the piece, one per mistake.

At an error the smallest edit of the token list is sought with which the statement reads on to its end (`repair`); the
parser goes on as if it had been made. Where there is none, the statement is given up and reading resumes behind it.
"""

from __future__ import annotations

from functools import lru_cache

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax import braces, messages, repair
from mcpeval_dsl.syntax.layout import Lines, behind_braces, statement_end
from mcpeval_dsl.syntax.machine import END, Machine
from mcpeval_dsl.syntax.problems import Problem
from mcpeval_dsl.syntax.scanner import Token, scan

MAX_PROBLEMS = 20
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class ParsedPiece:
    """What the text of a piece says, wherever it stands: `program` over `tokens`, statements at `dropped` left out."""

    tokens: list[Token]
    program: list[int]
    dropped: frozenset[int]
    problems: tuple[Problem, ...]
    complete: bool


@lru_cache(maxsize=4096)
def parse_piece(text: str) -> ParsedPiece:
    """Parse one piece of a file. Cached by its text."""
    scanned = scan(text)
    tokens = [t for t in scanned.items if t.kind not in ("COMMENT", "JUNK")]
    tokens.append(Token(END, len(text), len(text)))
    lines = Lines(text)
    balanced = braces.balance(lines, tokens, scanned.problems)
    run = _Run(lines, balanced.tokens)
    run.read()
    problems = _one_per_line(lines, (*scanned.problems, *balanced.problems), run.problems)
    return ParsedPiece(run.tokens, run.machine.program, frozenset(run.dropped), problems, run.complete)


class _Run:
    def __init__(self, lines: Lines, tokens: list[Token]) -> None:
        self.lines = lines
        self.tokens = tokens
        self.machine = Machine()
        self.number = 0
        self.checkpoint = self.machine.snapshot()
        self.first = 0  # number of the token at which the statement begins that `checkpoint` stands before
        self.problems: list[Problem] = []
        self.dropped: set[int] = set()
        self.complete = True
        self.stuck = -1  # the token at which the last error was left without getting past it

    def read(self) -> None:
        text, machine = self.lines.text, self.machine
        while True:
            tokens, number = self.tokens, self.number
            kind = tokens[number].kind
            if kind == "_NL" and (following := machine.next(tokens, number, text)) != number:
                self.number = following
                continue
            if not machine.feed(kind, number):
                if not self.recover():
                    return
                continue
            self.number += 1
            if kind == END:
                return
            if kind == "_NL" or kind == "LBRACE":
                self.mark()
            if len(machine.openers) > MAX_DEPTH:
                self.problems.append(_too_deep(tokens[number]))
                self.checkpoint = Machine().snapshot()  # nothing of such a piece is worth reading
                return self.give_up()

    def mark(self) -> None:
        """A statement begins here."""
        self.checkpoint = self.machine.snapshot()
        self.first = self.number

    def recover(self) -> bool:
        """Mend or leave one statement. False when the rest of the piece is given up."""
        if self.number == self.stuck:
            self.number += 1
            return self.number < len(self.tokens)
        closed = len(self.machine.openers) < len(self.checkpoint.openers)
        found = None
        if not closed:
            found = repair.find(self.lines, self.tokens, self.checkpoint, self.first, self.number)
        self.problems.append(messages.problem(self.lines.text, self.tokens, self.machine, self.number, found))
        if len(self.problems) >= MAX_PROBLEMS:
            self.give_up()
            return False
        if found is not None:
            self.tokens[found.at : found.at + found.remove] = found.tokens
            self.machine.restore(self.checkpoint)
            self.number = self.first
        else:
            self.leave(closed)
        return True

    def leave(self, closed: bool) -> None:
        """Go on behind the statement, or behind the junk after its block; what stands in its own block is still read."""
        self.complete = False
        begin = self.number if closed else self.first
        if not closed:
            self.machine.restore(self.checkpoint)
        stop = statement_end(self.lines, self.tokens, begin, self.number)
        if self.tokens[stop].kind == "LBRACE":
            if not closed and self.tokens[begin].kind == "NAME":
                return self.enter_block(begin, stop)
            behind = behind_braces(self.tokens, stop)
            stop = statement_end(self.lines, self.tokens, behind, behind)
        self.stuck = stop
        if not closed and self.tokens[stop].kind == "_NL":
            stop += 1
            self.stuck = -1
        self.number = stop
        if not closed:
            self.mark()

    def enter_block(self, begin: int, brace: int) -> None:
        """Go on inside the block of a statement whose head cannot be read."""
        self.machine.feed("NAME", begin)
        self.machine.feed("LBRACE", brace)
        self.dropped.add(self.tokens[begin].start)
        self.number = brace + 1
        self.mark()

    def give_up(self) -> None:
        """Keep what was complete before the statement at the checkpoint; the rest of the piece is lost."""
        self.complete = False
        self.machine.restore(self.checkpoint)
        end = len(self.tokens) - 1
        for _ in range(len(self.machine.openers)):
            self.machine.feed("RBRACE", end)
        self.machine.feed(END, end)


def _too_deep(token: Token) -> Problem:
    return Problem(
        "MCPE124",
        token.start,
        token.end,
        f"brackets are nested more than {MAX_DEPTH} deep",
        "No construct of the language needs that.",
        "close the brackets that were opened before",
    )


def _one_per_line(lines: Lines, before: tuple[Problem, ...], parsed: list[Problem]) -> tuple[Problem, ...]:
    """All problems in order, without those that only follow from an earlier step's on the same line, or lost text."""
    warnings = tuple(p for p in before if p.severity == "warning")
    # a lost end of a text, or brackets without end: what else is wrong there follows from that
    gone = [p for p in (*before, *parsed) if p.code in ("MCPE112", "MCPE124")]
    if gone:
        return (*warnings, gone[0])
    taken = {lines.number(p.start) for p in before if p.severity == "error"}
    kept = [p for p in parsed if lines.number(p.start) not in taken]
    return tuple(sorted((*before, *kept), key=lambda p: p.start))
