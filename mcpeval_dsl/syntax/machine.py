"""Syntax, inside step 3: the LALR(1) automaton over token kinds, with the layout rule for newlines.

What it reads is written down as a program: a token's number, or `~rule` for a reduction. Programs and not trees are
cached, since a program does not say where in a file its text stands.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.tables import load

CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB", "_IDX": "RSQB", "LBRACE": "RBRACE", "_OBJ": "RBRACE"}
_OPENERS = frozenset(CLOSERS)
_CLOSING = frozenset(CLOSERS.values())
_NO_NEWLINES_IN = frozenset({"LPAR", "LSQB", "_IDX", "_OBJ"})
_NO_NEWLINE_AFTER = frozenset({"COMMA", "_NL", "LBRACE"})
END = "$END"


@cache
def rules() -> list[tuple[str, int, bool]]:
    """(origin, size, whether it only hands on its child) of each rule."""
    return [(rule.origin, rule.size, rule.passes) for rule in load().rules]


class Snapshot(NamedTuple):
    states: list[int]
    openers: list[tuple[str, int]]
    previous: str
    steps: int

    def machine(self) -> Machine:
        """A machine that goes on from here with an empty program, for trying something out."""
        machine = Machine()
        machine.restore(self)
        return machine


class Machine:
    """One reading of a token list."""

    __slots__ = ("actions", "gotos", "openers", "previous", "program", "rules", "states")

    def __init__(self) -> None:
        tables = load()
        self.actions, self.gotos = tables.actions, tables.gotos
        self.rules = rules()
        self.states = [0]
        self.openers: list[tuple[str, int]] = []  # kind and token number of each open bracket
        self.previous = ""
        self.program: list[int] = []

    def snapshot(self) -> Snapshot:
        """Where it stands; the program is only ever appended to, so its length says enough."""
        return Snapshot(self.states[:], self.openers[:], self.previous, len(self.program))

    def restore(self, snapshot: Snapshot) -> None:
        """Forget what was read since."""
        self.states = snapshot.states[:]
        self.openers = snapshot.openers[:]
        self.previous = snapshot.previous
        del self.program[snapshot.steps :]

    def next(self, tokens: list[Token], number: int, text: str) -> int:
        """Number of the token to read, which is `number` unless newlines vanish there."""
        token = tokens[number]
        if token.kind != "_NL":
            return number
        hard = text[token.start] == ";"
        if hard:
            return number + 1 if self.previous in ("_NL", "LBRACE") else number
        following = number + 1
        if self.previous in _NO_NEWLINE_AFTER or (self.openers and self.openers[-1][0] in _NO_NEWLINES_IN):
            return following
        while tokens[following].kind == "_NL" and text[tokens[following].start] != ";":
            following += 1
        return following if tokens[following].kind == "CMP" else number

    def feed(self, kind: str, number: int) -> bool:
        """Read one token. False, with nothing changed, where it cannot stand."""
        actions, rules, states, program = self.actions, self.rules, self.states, self.program
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
            origin, size, passes = rules[~action]
            if size:
                del states[-size:]
            states.append(self.gotos[states[-1]][origin])
            if not passes:
                program.append(action)
        states.append(action)
        program.append(number)
        if kind in _OPENERS:
            self.openers.append((kind, number))
        elif kind in _CLOSING:
            self.openers.pop()
        self.previous = kind
        return True
