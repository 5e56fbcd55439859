"""Language server, beside the features: what a thing is, in Markdown, for hover, completion and signatures.

What a server says of itself is no text of ours: it stands in fences, where an editor renders nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.diagnostics.render.safe import visible, visible_lines
from mcpeval_dsl.language_server.index import tools
from mcpeval_dsl.semantics.catalogue import KnownTool
from mcpeval_dsl.semantics.directives import Directive, block_kind
from mcpeval_dsl.semantics.directives.functions import Function, Parameter
from mcpeval_dsl.semantics.directives.metrics import Metric
from mcpeval_dsl.semantics.directives.variables import Variable
from mcpeval_dsl.semantics.directives.wording import signature

LONGEST = 2_000
_TICKS = re.compile(r"`{3,}")


def fenced(text: str, language: str = "text") -> str:
    """A text shown as it is, whatever it holds; a long one is cut."""
    shown = visible_lines(text.replace("\r\n", "\n"))
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]}…"
    fence = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(shown))])
    return f"{fence}{language}\n{shown}\n{fence}"


def code(text: str) -> str:
    """A short text as code on one line."""
    shown = visible(" ".join(text.split()))
    shown = shown if len(shown) <= 120 else f"{shown[:119]}…"
    tick = "``" if "`" in shown else "`"
    return f"{tick} {shown} {tick}" if tick == "``" else f"{tick}{shown}{tick}"


def usage(entry: Directive) -> str:
    """The word with its operands, as the manual writes it."""
    block = "" if entry.block is None else "{ … }" if entry.block.required else "[{ … }]"
    return " ".join(part for part in (entry.name, signature(entry.operands), block) if part)


def directive(entry: Directive, kind: str) -> str:
    """The manual's entry of a word in blocks of a kind."""
    lines = [fenced(usage(entry), "mcpe"), entry.doc]
    if entry.default:
        lines.append(f"Default: {entry.default}.")
    if entry.run != "yes":
        lines.append("`mcpe run` refuses it for now, at its place in the spec.")
    lines.append(fenced(entry.example, "mcpe"))
    lines.append(f"A word of {block_kind(kind).title}; {'adds up' if entry.repeat == 'add' else 'stands once'}.")
    return "\n\n".join(lines)


def function(entry: Function) -> str:
    return f"{fenced(call(entry), 'mcpe')}\n\n{entry.doc}\n\n{fenced(entry.example, 'mcpe')}"


def call(entry: Function) -> str:
    """`join(list, [separator])`."""
    return f"{entry.name}({', '.join(map(parameter, entry.parameters))})"


def parameter(entry: Parameter) -> str:
    shown = f"{entry.name}: {entry.kind}" if entry.named else entry.name
    shown = f"{shown}, …" if entry.rest else shown
    return f"[{shown}]" if entry.optional else shown


def variable(entry: Variable) -> str:
    members = f" Members: {', '.join(f'`.{member}`' for member in entry.members)}." if entry.members else ""
    return f"`{entry.name}`: {entry.doc}{members}"


def metric(entry: Metric) -> str:
    interval = "It has an interval: `.low` and `.high` are its bounds." if entry.bounds else "It has no interval."
    arguments = f"\n\nFor two members: `{entry.name}({', '.join(entry.arguments)})`." if entry.arguments else ""
    return f"`{entry.name}` ({entry.unit})\n\n{entry.doc} {interval}{arguments}"


def tool(server: str, entry: KnownTool) -> str:
    """A tool as the lock has it: hints, description, arguments, fields of the result."""
    hints = [name for name, hint in _hints(entry) if hint]
    head = f"Tool {code(entry.name)} of `{server}`, as locked"
    head += f". Its hints: {', '.join(hints)}." if hints else ". It gives no hints."
    parts = [head]
    if entry.description:
        parts.append(fenced(entry.description))
    if entry.input_schema is not None:
        parts.append("Arguments:\n" + fenced(members(entry.input_schema) or "none"))
    if (fields := members(entry.output_schema)) != "":
        parts.append("Structured result:\n" + fenced(fields))
    return "\n\n".join(parts)


def _hints(entry: KnownTool) -> list[tuple[str, bool | None]]:
    return [
        ("read-only", entry.read_only_hint),
        ("destructive", entry.destructive_hint),
        ("idempotent", entry.idempotent_hint),
        ("open world", entry.open_world_hint),
    ]


def members(schema: Mapping[str, Any] | None) -> str:
    """One line per member: name, type, whether it must be there, values, description."""
    needed = tools.required(schema)
    lines = []
    for name, entry in list(tools.properties(schema).items())[:60]:
        shown = [f"{name}: {tools.kind_of(entry) or 'any'}"]
        if name in needed:
            shown.append("(required)")
        if values := tools.choices(entry):
            shown.append("= " + " | ".join(literal(v) for v in values[:12]) + (" | …" if len(values) > 12 else ""))
        if isinstance(text := entry.get("description"), str):
            shown.append(f"- {' '.join(text.split())[:200]}")
        lines.append(" ".join(shown))
    return "\n".join(lines)


def argument(server: str, tool_name: str, name: str, schema: Mapping[str, Any], needed: bool) -> str:
    """One argument of a tool."""
    head = f"Argument {code(name)} of {code(f'{server}.{tool_name}')}: {code(tools.kind_of(schema) or 'any')}"
    head += ", required." if needed else "."
    parts = [head]
    if values := tools.choices(schema):
        parts.append("Values: " + ", ".join(code(literal(v)) for v in values[:30]))
    if isinstance(text := schema.get("description"), str) and text:
        parts.append(fenced(text))
    return "\n\n".join(parts)


def literal(value: Any) -> str:
    """A value of JSON as a spec writes it."""
    return json.dumps(value, ensure_ascii=False)
