"""Language server, signature help: the arguments of the call that the cursor stands in."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.features.completion.tools import named
from mcpeval_dsl.language_server.index import tools
from mcpeval_dsl.language_server.index.cursor import WORD, cursor
from mcpeval_dsl.language_server.index.slots import Slot, slot
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.patterns import COMBINATORS
from mcpeval_dsl.syntax import tree

TRIGGERS = ("(", ",")


class Parameter(NamedTuple):
    """`start..end` is where it stands in the label."""

    start: int
    end: int
    text: str


class Signature(NamedTuple):
    """`active` is the number of the parameter that is typed, None where it is none of them."""

    label: str
    text: str
    parameters: tuple[Parameter, ...]
    active: int | None


def signature_help(snapshot: Snapshot, offset: int) -> Signature | None:
    """The call around an offset, if it is one of a known tool, function or combinator."""
    part = snapshot.part_at(offset)
    here = cursor(part.body, offset - part.start)
    where = None if here is None else slot(here)
    if here is None or where is None or where.callee is None or where.what == "member":
        return None
    position = _position(here.way)
    if where.callee.kind == "function":
        return _function(where, position)
    if where.callee.kind == "combinator":
        entry = COMBINATORS[where.callee.name]
        names = ["count", "pattern, …"] if entry.counted else ["pattern"] if entry.most == 1 else ["pattern, …"]
        return _signature(entry.name, [(n, "") for n in names], entry.doc, min(position, len(names) - 1))
    return _tool(snapshot, where)


def _position(way: tuple[object, ...]) -> int:
    """How many arguments of the innermost call stand before the cursor."""
    found = 0
    for node, following in pairwise(way):
        if isinstance(node, tree.CallSuffix):
            found = next((i for i, argument in enumerate(node.arguments) if argument is following), 0)
    return found


def _tool(snapshot: Snapshot, where: Slot) -> Signature | None:
    assert where.callee is not None
    found = tools.tool(snapshot, where.callee.server, where.callee.name)
    if found is None:
        return None
    server, tool = found
    needed = tools.required(tool.input_schema)
    listed: list[tuple[str, str]] = []
    active = None
    for number, (name, schema) in enumerate(tools.properties(tool.input_schema).items()):
        shown = f"{named(name)}: {tools.kind_of(schema) or 'any'}"
        text = describing.argument(server, tool.name, name, schema, name in needed)
        listed.append((shown if name in needed else f"[{shown}]", text))
        if name == where.argument and where.argument != WORD:
            active = number
    text = describing.fenced(tool.description) if tool.description else ""
    return _signature(named(tool.name), listed, text, active)


def _function(where: Slot, position: int) -> Signature | None:
    assert where.callee is not None
    entry = FUNCTIONS.get(where.callee.name)
    if entry is None:
        return None
    names = [p.name for p in entry.parameters]
    if where.argument in names:
        active: int | None = names.index(where.argument)
    else:
        active = min(position, len(names) - 1) if names else None
    return _signature(entry.name, [(describing.parameter(p), "") for p in entry.parameters], entry.doc, active)


def _signature(name: str, listed: list[tuple[str, str]], text: str, active: int | None) -> Signature:
    label = f"{name}("
    parameters = []
    for number, (shown, about) in enumerate(listed):
        label += ", " if number else ""
        parameters.append(Parameter(len(label), len(label) + len(shown), about))
        label += shown
    return Signature(f"{label})", text, tuple(parameters), active)
