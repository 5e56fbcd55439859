"""Semantics, lowering: calls and call patterns against the tools that a lock file knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from mcpeval_dsl.semantics.expressions import ToolCall
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.symbols import name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import CallSuffix, Field


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
        ctx.problems.report("MCPE260", span, title, "Tools are those of the lock file.", hint)
    return found


def properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Top-level properties of an object schema; None where it leaves them open."""
    if not schema or any(word in schema for word in ("anyOf", "oneOf", "allOf", "$ref", "patternProperties")):
        return None
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or (not fields and schema.get("additionalProperties") is not False):
        return None
    return fields


def check_argument(ctx: Context, tools: list[KnownTool], tool: str, name: str, span: Span) -> None:
    """Report an argument that no version of the tool takes."""
    known: set[str] = set()
    for entry in tools:
        fields = properties(entry.input_schema)
        if fields is None:
            return
        known.update(fields)
    if tools and name not in known:
        nearest = closest(name, known)
        listed = ", ".join(f"`{n}`" for n in sorted(known)[:8])
        hint = f"did you mean `{nearest}`?" if nearest else f"it takes: {listed}" if known else "it takes none"
        title = f"the tool `{tool}` takes no argument `{name}`"
        ctx.problems.report("MCPE261", span, title, "Arguments follow the tool's input schema in the lock.", hint)


def check_call(ctx: Context, call: ToolCall, field: Field, suffix: CallSuffix) -> None:
    """A call that will be made: the tool, each argument and the required ones."""
    tools = find_tool(ctx, call.server, call.tool, field.name.span)
    if not tools:
        return
    for argument in suffix.arguments:
        if argument.name is not None:
            check_argument(ctx, tools, call.tool, name_text(argument.name), argument.name.span)
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
