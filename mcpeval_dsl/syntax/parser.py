"""Syntax, step 3: tokens of one piece -> a program for the builder, and every error of the piece, one per mistake.

At an error the smallest edit of the token list is sought with which the statement reads on to its end (`repair`); the
parser goes on as if it had been made. Where there is none, the statement is given up and reading resumes behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from mcpeval_dsl.syntax import braces, layout, messages, repair
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
    balanced = braces.balance(text, tokens, scanned.problems)
    run = _Run(text, balanced.tokens, balanced.dropped)
    run.read()
    problems = _one_per_statement(text, scanned.problems, balanced.problems, run)
    return ParsedPiece(
        run.tokens, run.machine.program, frozenset(run.dropped), problems, not run.dropped and run.complete
    )


@dataclass(slots=True)
class _Run:
    text: str
    tokens: list[Token]
    dropped: set[int]
    machine: Machine = field(default_factory=Machine)
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True
    number: int = 0
    checkpoint: Machine = field(default_factory=Machine)
    first: int = 0  # number of the token at which the statement begins that `checkpoint` stands before

    def read(self) -> None:
        text = self.text
        while True:
            machine, tokens, number = self.machine, self.tokens, self.number
            token = tokens[number]
            kind = token.kind
            if kind == "_NL" and machine.skips(tokens, number, text):
                self.number += 1
                continue
            if len(machine.openers) > MAX_DEPTH:
                self.too_deep()
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

    def mark(self) -> None:
        """A statement begins here."""
        self.checkpoint = self.machine.copy()
        self.first = self.number

    def recover(self) -> bool:
        """Mend or give up one statement. False when the piece is given up as a whole."""
        found = repair.find(self.text, self.tokens, self.checkpoint, self.first, self.number)
        self.problems.append(messages.problem(self.text, self.tokens, self.machine, self.number, found))
        if len(self.problems) >= MAX_PROBLEMS:
            return self.give_up()
        if found is not None:
            self.tokens[found.at : found.at + found.remove] = found.tokens
            self.machine = self.checkpoint.copy()
            self.number = self.first
            return True
        return self.panic()

    def panic(self) -> bool:
        """Leave the statement; what stands in its block is still read."""
        self.complete = False
        tokens, text = self.tokens, self.text
        junk = len(self.machine.openers) == len(self.checkpoint.openers) and self.machine.previous == "RBRACE"
        if not junk:
            self.machine = self.checkpoint.copy()
        begin = self.number if junk or self.first > self.number else self.first
        stop = layout.statement_end(text, tokens, begin, self.number)
        if tokens[stop].kind == "LBRACE" and tokens[begin].kind == "NAME" and self.enter_block(begin, stop):
            return True
        if tokens[stop].kind in ("LBRACE", "_OBJ"):
            stop = layout.behind_braces(tokens, stop)
            stop = layout.statement_end(text, tokens, stop, stop)
        self.number = max(stop, self.number if tokens[stop].kind == "_NL" else stop)
        self.number = stop
        if self.machine.previous in ("_NL", "LBRACE", "") and tokens[stop].kind == "_NL":
            self.number += 1
            self.mark()
        elif tokens[stop].kind not in ("_NL", "RBRACE", END) or not self.machine.accepts(tokens[stop].kind):
            if tokens[stop].kind == END:
                return self.give_up()
            self.number += 1
        return True

    def enter_block(self, begin: int, brace: int) -> bool:
        """Go on inside the block of a statement whose head cannot be read."""
        if not self.machine.feed("NAME", begin) or not self.machine.feed("LBRACE", brace):
            return False
        self.dropped.add(self.tokens[begin].start)
        self.number = brace + 1
        self.mark()
        return True

    def too_deep(self) -> None:
        token = self.tokens[self.number]
        self.problems.append(
            Problem(
                "MCPE125",
                token.start,
                token.end,
                f"brackets are nested more than {MAX_DEPTH} deep",
                "No construct of the language needs that.",
                "close the brackets that were opened before",
            )
        )
        self.give_up()
        self.number = len(self.tokens) - 1

    def give_up(self) -> bool:
        """Keep what was complete before the statement at the checkpoint; the rest of the piece is lost."""
        self.complete = False
        self.machine = self.checkpoint.copy()
        end = len(self.tokens) - 1
        for kind, _ in reversed(self.machine.openers[:]):
            closer = "RBRACE" if kind in ("LBRACE", "_OBJ") else "RPAR"
            if not self.machine.feed(closer, end):
                break
        if not self.machine.feed(END, end):
            self.machine = Machine()
            self.machine.feed(END, end)
        return False


def _one_per_statement(
    text: str, scanned: tuple[Problem, ...], braced: tuple[Problem, ...], run: _Run
) -> tuple[Problem, ...]:
    """All problems in order, without those that only follow from another one of the same line or lost text."""
    lost_text = [p for p in scanned if p.code == "MCPE112"]
    if lost_text:
        return (*(p for p in scanned if p.severity == "warning"), lost_text[0])
    taken = {text.count("\n", 0, p.start) for p in (*scanned, *braced) if p.severity == "error"} if (scanned or braced) and run.problems else set()
    kept = [p for p in run.problems if not taken or text.count("\n", 0, p.start) not in taken]
    return tuple(sorted((*scanned, *braced, *kept), key=lambda p: p.start))
