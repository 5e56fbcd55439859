"""Language server, completion: tools, their arguments, the values of arguments, and paths into results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.features.completion.model import Draft
from mcpeval_dsl.language_server.index import tools
from mcpeval_dsl.language_server.index.shapes import result_schema
from mcpeval_dsl.language_server.index.slots import Callee, Slot
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS

_NAME = re.compile(r"[A-Za-z_]\w*(?:-\w+)*")
_CALL = re.compile(r"([A-Za-z_][\w-]*)\s*\.\s*(?:\"([^\"\n]*)\"|([A-Za-z_][\w-]*))\s*\(")


def named(name: str) -> str:
    """A name as it is written: in quotes where it is no identifier."""
    return name if _NAME.fullmatch(name) else describing.literal(name)


def of_server(snapshot: Snapshot, server: str, *, called: bool) -> Iterator[Draft]:
    """The tools of a server or catalogue ('' for those of all); with `called` each is a call to be made."""
    known = tools.tools(snapshot, server)
    for name, (owner, tool) in known.items():
        text = named(name)
        snippet = f"{text}({_arguments(tool.input_schema)})" if called else ""
        detail = f"tool of {owner}" + (", read-only" if tool.read_only_hint else "")
        yield Draft(name, "tool", 20, detail, describing.tool(owner, tool), text, snippet)
    if not known or (not server and tools.unlocked(snapshot)):
        for name in tools.mentioned(snapshot, server):
            yield Draft(name, "tool", 25, "named elsewhere in the spec", "", named(name))


def _arguments(schema: Mapping[str, Any] | None) -> str:
    """The required arguments, as places to fill in."""
    needed = tools.required(schema)
    found = [(name, entry) for name, entry in tools.properties(schema).items() if name in needed]
    return ", ".join(f"{named(n)}: {_place(number, entry)}" for number, (n, entry) in enumerate(found, 1)) or "$0"


def _place(number: int, schema: Mapping[str, Any]) -> str:
    """A place for a value, in quotes where only a text fits."""
    if tools.kind_of(schema) == "string" and not tools.choices(schema):
        return f'"${{{number}}}"'
    return f"${{{number}:value}}"


def arguments(snapshot: Snapshot, slot: Slot) -> Iterator[Draft]:
    """Names of arguments that are not given yet."""
    callee = slot.callee
    if callee is None:
        return
    if callee.kind == "function":
        yield from _parameters(callee, slot)
        return
    found = tools.tool(snapshot, callee.server, callee.name)
    if found is None:
        for name in tools.mentioned_arguments(snapshot, callee.name):
            if name not in slot.given:
                yield Draft(name, "argument", 20, "given elsewhere in the spec", "", f"{named(name)}: ")
        return
    server, tool = found
    needed = tools.required(tool.input_schema)
    for name, schema in tools.properties(tool.input_schema).items():
        if name in slot.given:
            continue
        detail = f"{tools.kind_of(schema) or 'any'}{', required' if name in needed else ''}"
        text = describing.argument(server, tool.name, name, schema, name in needed)
        yield Draft(name, "argument", 10 if name in needed else 15, detail, text, f"{named(name)}: ")


def _parameters(callee: Callee, slot: Slot) -> Iterator[Draft]:
    function = FUNCTIONS.get(callee.name)
    for parameter in function.parameters if function is not None else ():
        if parameter.named and parameter.name not in slot.given:
            yield Draft(parameter.name, "argument", 15, parameter.kind, "", f"{parameter.name}: ")


def schema_of(snapshot: Snapshot, slot: Slot) -> Mapping[str, Any] | None:
    """The schema of the value, or the object, that is typed in an argument."""
    callee = slot.callee
    if callee is None or callee.kind != "tool" or not slot.argument:
        return None
    found = tools.tool(snapshot, callee.server, callee.name)
    if found is None:
        return None
    schema = tools.inside(found[1].input_schema, (slot.argument, *slot.steps))
    if slot.operator in ("has", "not has", "in", "not in") and not slot.steps and schema is not None:
        return tools.inside(schema, (0,)) if slot.operator.endswith("has") else schema
    return schema


def values(snapshot: Snapshot, slot: Slot) -> Iterator[Draft]:
    """The values that the schema of an argument lists."""
    for value in tools.choices(schema_of(snapshot, slot)):
        yield Draft(describing.literal(value), "value", 5, "listed by the tool's schema")


def keys(snapshot: Snapshot, slot: Slot) -> Iterator[Draft]:
    """Names of members of an object in an argument."""
    schema = schema_of(snapshot, slot)
    needed = tools.required(schema)
    for name, entry in tools.properties(schema).items():
        if name not in slot.given:
            detail = f"{tools.kind_of(entry) or 'any'}{', required' if name in needed else ''}"
            yield Draft(name, "field", 10 if name in needed else 15, detail, "", f"{named(name)}: ")


def path(snapshot: Snapshot, opening: str, typed: str) -> Iterator[Draft]:
    """What may follow the last dot of a JSONPath into the result of the call that opens the block."""
    call = _CALL.search(opening)
    if call is None:
        return
    steps = tools.path_steps(typed[: typed.rfind(".") + 1])
    schema = tools.inside(result_schema(snapshot, opening[call.start() :]), steps)
    for name, entry in tools.properties(schema).items():
        if _NAME.fullmatch(name):
            yield Draft(name, "field", 10, tools.kind_of(entry) or "any", "", name)
