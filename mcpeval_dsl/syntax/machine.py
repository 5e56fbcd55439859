"""Syntax, inside step 3: the LALR(1) automaton over token kinds, with the layout rule for newlines.

What it reads is written down as a program: a token's number, or `~rule` for a reduction. Programs and not trees are
cached, since a program does not say where in a file its text stands.
"""

from __future__ import annotations

from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.tables import load

CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB", "_IDX": "RSQB", "LBRACE": "RBRACE", "_OBJ": "RBRACE"}
_OPENERS = frozenset(CLOSERS)
_CLOSING = frozenset(CLOSERS.values())
_NO_NEWLINES_IN = frozenset({"LPAR", "LSQB", "_IDX", "_OBJ"})
_NO_NEWLINE_AFTER = frozenset({"COMMA", "_NL", "LBRACE"})
END = "$END"


class Machine:
    """One reading of a token list; `copy` makes a cheap one for trying something out."""

    __slots__ = ("actions", "gotos", "openers", "previous", "program", "sizes", "states")

    def __init__(self) -> None:
        tables = load()
        self.actions, self.gotos = tables.actions, tables.gotos
        self.sizes = [(rule.origin, rule.size) for rule in tables.rules]
        self.states = [0]
        self.openers: list[tuple[str, int]] = []  # kind and token number of each open bracket
        self.previous = ""
        self.program: list[int] = []

    def copy(self) -> Machine:
        other = Machine.__new__(Machine)
        other.actions, other.gotos, other.sizes = self.actions, self.gotos, self.sizes
        other.states = self.states[:]
        other.openers = self.openers[:]
        other.previous = self.previous
        other.program = self.program[:]
        return other

    def trial(self) -> Machine:
        """A copy for trying out, without the program so far."""
        program, self.program = self.program, []
        other = self.copy()
        self.program = program
        return other

    def skips(self, tokens: list[Token], number: int, text: str) -> bool:
        """Whether the newline with this number vanishes."""
        token = tokens[number]
        if text[token.start : token.end] == ";":
            return self.previous in ("_NL", "LBRACE")
        if self.previous in _NO_NEWLINE_AFTER or (self.openers and self.openers[-1][0] in _NO_NEWLINES_IN):
            return True
        number += 1
        while tokens[number].kind == "_NL" and text[tokens[number].start] != ";":
            number += 1
        return tokens[number].kind == "CMP"

    def accepts(self, kind: str) -> bool:
        """Whether the token could be shifted now."""
        states = self.states[:]
        while True:
            action = self.actions[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            origin, size = self.sizes[~action]
            if size:
                del states[-size:]
            states.append(self.gotos[states[-1]][origin])

    def feed(self, kind: str, number: int) -> bool:
        """Read one token. False, with nothing changed, where it cannot stand."""
        actions, sizes, states, program = self.actions, self.sizes, self.states, self.program
        saved: list[int] | None = None
        mark = len(program)
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                if saved is not None:
                    self.states = saved
                    del program[mark:]
                return False
            if action >= 0:
                break
            if saved is None:
                saved = states[:]
            origin, size = sizes[~action]
            if size:
                del states[-size:]
            states.append(self.gotos[states[-1]][origin])
            program.append(action)
        states.append(action)
        program.append(number)
        if kind in _OPENERS:
            self.openers.append((kind, number))
        elif kind in _CLOSING:
            self.openers.pop()
        self.previous = kind
        return True
