"""Semantics, lowering: calls and call patterns against the tools that a lock file knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from mcpeval_dsl.semantics.expressions import ToolCall
from mcpeval_dsl.semantics.json_schemas import items, members
from mcpeval_dsl.semantics.lower.argument_values import Misfit, misfits, renamed
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.symbols import name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Argument, CallSuffix, Comparison, Field, ListValue, Value

_BODY = "Values follow the tool's input schema in the lock."


def locked(ctx: Context, server: str | None) -> list[KnownServer] | None:
    """The locked servers behind a server or catalogue (all for None); None when one of them is not locked."""
    if server is None:
        names: Iterable[str] = ctx.of("server")
    else:
        names = ctx.members.get(server, (server,))
    found = [ctx.known.get(name) for name in names]
    if not found or any(entry is None for entry in found):
        return None
    return [entry for entry in found if entry is not None]


def find_tool(ctx: Context, server: str | None, tool: str, span: Span) -> list[KnownTool]:
    """The tool in each locked server that has it; an error where no server has it and all are locked."""
    servers = locked(ctx, server)
    if servers is None:
        return []
    found = [entry.tools[tool] for entry in servers if tool in entry.tools]
    if not found:
        names = [name for entry in servers for name in entry.tools]
        nearest = closest(tool, names)
        hint = f"did you mean `{nearest}`?" if nearest else "see `mcpe.lock` for the tools there are"
        where = f"the server `{server}`" if server else "no server of this suite"
        title = f"{where} has no tool `{tool}`" if server else f"{where} has a tool `{tool}`"
        fixes = (renamed(span, nearest),) if nearest and span.text == tool else ()
        ctx.problems.report("MCPE260", span, title, "Tools are those of the lock file.", hint, fixes=fixes)
    return found


def tools_like(ctx: Context, server: str | None, glob: str) -> list[KnownTool]:
    """Every locked tool that a glob names; nothing is said where there is none: a glob may be for tools to come."""
    return [t for entry in locked(ctx, server) or () for name, t in entry.tools.items() if fnmatchcase(name, glob)]


def properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Top-level properties of an object schema, each with one of its schemas; None where it leaves them open."""
    fields = members(schema, schema) if schema else None
    return None if fields is None else {name: schemas[0] for name, schemas in fields.items()}


def check_argument(
    ctx: Context, tools: list[KnownTool], tool: str, argument: Argument, *, pattern: bool = False
) -> None:
    """Report an argument that no version of the tool takes, or a value that each of them refuses.

    In a `pattern` an operator may stand before the value, and objects need not be whole.
    """
    assert argument.name is not None
    name, span = name_text(argument.name), argument.name.span
    known: set[str] = set()
    schemas: list[tuple[KnownTool, object]] = []
    for entry in tools:
        fields = members(entry.input_schema, entry.input_schema) if entry.input_schema else None
        if fields is None:
            return
        known.update(fields)
        schemas += [(entry, schema) for schema in fields.get(name, ())]
    if tools and name not in known:
        nearest = closest(name, known)
        listed = ", ".join(f"`{n}`" for n in sorted(known)[:8])
        hint = f"did you mean `{nearest}`?" if nearest else f"it takes: {listed}" if known else "it takes none"
        title = f"the tool `{tool}` takes no argument `{name}`"
        body = "Arguments follow the tool's input schema in the lock."
        ctx.problems.report("MCPE261", span, title, body, hint, fixes=(renamed(span, nearest),) if nearest else ())
        return
    for value, inside in _values(argument) if not isinstance(argument.value, Comparison) else ():
        _check_value(ctx, schemas, tool, name, value, inside=inside, partial=pattern)


def _values(argument: Argument) -> list[tuple[Value, bool]]:
    """Each value that an argument is compared with, and whether it is meant as an item of the argument."""
    value = argument.value
    assert not isinstance(value, Comparison)
    match " ".join(argument.operator.split()):
        case ":" | "==" | "!=":
            return [(value, False)]
        case "in" | "not in" if isinstance(value, ListValue):
            return [(item, False) for item in value.items]
        case "has" | "not has":
            return [(value, True)]
        case _:
            return []


def _check_value(
    ctx: Context,
    schemas: list[tuple[KnownTool, object]],
    tool: str,
    argument: str,
    value: Value,
    *,
    inside: bool,
    partial: bool,
) -> None:
    """What is wrong by the schema of each version is reported as the first of them has it."""
    first: tuple[Misfit, ...] = ()
    for entry, schema in schemas:
        root = entry.input_schema or {}
        ways: list[object] | None = [schema]
        if inside:
            ways = items(root, schema)
        if not ways:
            return
        for way in ways:
            found = misfits(value, root, way, partial=partial)
            if not found:
                return
            first = first or found
    for each in first:
        title = f"the argument `{argument}{each.path}` of `{tool}` {each.what}"
        ctx.problems.report(each.code, each.span, title, _BODY, each.hint, severity=each.severity, fixes=each.fixes)


def check_call(ctx: Context, call: ToolCall, field: Field, suffix: CallSuffix) -> None:
    """A call that will be made: the tool, each argument and the required ones."""
    tools = find_tool(ctx, call.server, call.tool, field.name.span)
    if not tools:
        return
    for argument in suffix.arguments:
        if argument.name is not None:
            check_argument(ctx, tools, call.tool, argument)
    given = {entry.key for entry in call.arguments}
    for name in required(tools[0]):
        if name not in given and all(name in required(entry) for entry in tools):
            title = f"the tool `{call.tool}` needs the argument `{name}`"
            hint = f"add `{name}: …`"
            ctx.problems.report("MCPE262", field.name.span, title, "Its input schema requires it.", hint)


def required(tool: KnownTool) -> list[str]:
    schema = tool.input_schema or {}
    names = schema.get("required")
    return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []
