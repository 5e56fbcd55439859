"""Semantics, first pass: every name the files define, by kind, and the scopes in which values are looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Binding, Block, Directive, Name, Ref, Statement, String

Kind = Literal[
    "let",
    "harvest",
    "table",
    "server",
    "catalogue",
    "environment",
    "model",
    "host",
    "judge",
    "profile",
    "task",
    "arm",
    "truth",
    "canary",
    "loop variable",
    "binding",
    "step",
    "variable",
    "matrix parameter",
]

NOUNS: Mapping[str, str] = {
    "catalogue": "a catalogue",
    "environment": "an environment",
    "arm": "an arm",
}


def noun(kind: str) -> str:
    """`a server`, `an environment`."""
    return NOUNS.get(kind, f"a {kind}")


@dataclass(frozen=True, slots=True)
class Shape:
    """Known fields of a value; a field whose shape is None may have any fields."""

    fields: Mapping[str, Shape | None]


@dataclass(slots=True)
class Symbol:
    """One definition. `id` names it across tasks (harvests of a task carry the task's name)."""

    kind: Kind
    name: str
    span: Span | None
    statement: Statement | None = None
    shape: Shape | None = None
    id: str = ""
    imported: bool = False
    used: bool = False


@dataclass(slots=True)
class Scope:
    """Names a value may use, innermost first. `truth` says whether the trial is over where the value is read."""

    names: dict[str, Symbol] = field(default_factory=dict)
    parent: Scope | None = None
    truth: bool = False
    subject: bool = False
    cell: bool = False

    def find(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            symbol = scope.names.get(name)
            if symbol is not None:
                return symbol
            scope = scope.parent
        return None

    def child(self, **flags: bool) -> Scope:
        """A scope inside this one; flags not given are kept."""
        return Scope(
            {},
            self,
            flags.get("truth", self.truth),
            flags.get("subject", self.subject),
            flags.get("cell", self.cell),
        )

    def all_names(self) -> list[str]:
        found: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            found.extend(scope.names)
            scope = scope.parent
        return found


BLOCK_KINDS: Mapping[str, Kind] = {
    "server": "server",
    "environment": "environment",
    "model": "model",
    "host": "host",
    "judge": "judge",
    "profile": "profile",
    "table": "table",
    "arm": "arm",
    "task": "task",
}
VALUE_KINDS = frozenset({"let", "harvest", "table"})


def word(item: object) -> str | None:
    """The text of a bare word, None for anything else."""
    if isinstance(item, Ref) and not item.postfixes:
        return item.root.text
    return None


def defined_name(statement: Directive) -> tuple[str, Span] | None:
    """Name and place of what `KEYWORD NAME …` defines."""
    if not statement.groups or not statement.groups[0].items:
        return None
    first = statement.groups[0].items[0]
    text = word(first)
    return None if text is None else (text, first.span)


def binding_names(block: Block | None) -> dict[str, Span]:
    """Names bound by `x = …` in a block, in order."""
    if block is None:
        return {}
    return {s.name.text: s.name.span for s in block.statements if isinstance(s, Binding)}


def name_text(name: Name | String) -> str:
    """A name as written, without quotes."""
    return name.text if isinstance(name, Name) else name.value
