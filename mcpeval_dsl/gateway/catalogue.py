"""A server's tools as it listed them, leniently read, with digests, and how two readings differ.

Place in the pipeline: between the wire and everything that knows tools (lock, gateway, agents, checks).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.gateway.validity import schema_fault

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
DESCRIBED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True, slots=True)
class SessionDrift:
    """What differs from the pin: `kinds` of revision, instructions, tools, descriptions, schemas; tool names by kind."""

    kinds: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    detail: str = ""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces, equal for equal values (in the manner of RFC 8785)."""
    return json.dumps(_plain(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, as hex."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"$float": str(value)}
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value


def read_tools(server: str, listed: Iterable[Any]) -> tuple[ToolDefinition, ...]:
    """Every entry of the lists, in order; a broken one is kept as unusable with what is wrong, the others stay whole."""
    found: list[ToolDefinition] = []
    seen: set[str] = set()
    for number, entry in enumerate(listed, start=1):
        tool = _read_tool(server, entry, number)
        if tool.name in seen:
            problem = f"the name {tool.name!r} is listed twice"
            tool = _broken(server, tool.name, problem, entry)
        seen.add(tool.name)
        found.append(tool)
    return tuple(found)


def _broken(server: str, name: str, finding: str, entry: Any) -> ToolDefinition:
    return ToolDefinition(server, name, usable=False, finding=finding, sha256=digest(entry))


def _read_tool(server: str, entry: Any, number: int) -> ToolDefinition:
    if not isinstance(entry, Mapping):
        return _broken(server, f"#{number}", f"entry {number} of the list is no object", entry)
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        return _broken(server, f"#{number}", f"entry {number} of the list has no name", entry)
    schema = entry.get("inputSchema")
    problem = _input_problem(schema)
    if problem is not None:
        return _broken(server, name, problem, entry)
    output = entry.get("outputSchema")
    findings = [_untyped(entry["inputSchema"]), *_hint_problems(entry.get("annotations"))]
    if output is not None and not isinstance(output, Mapping):
        findings.append("outputSchema is no object")
    said = [text for text in findings if text is not None]
    title, description = entry.get("title"), entry.get("description")
    annotations = entry.get("annotations")
    return ToolDefinition(
        server,
        name,
        title if isinstance(title, str) else None,
        description if isinstance(description, str) else "",
        entry["inputSchema"],
        output if isinstance(output, Mapping) else None,
        dict(annotations) if isinstance(annotations, Mapping) else {},
        finding="; ".join(said) or None,
        sha256=digest({key: entry[key] for key in DESCRIBED if key in entry}),
    )


def _input_problem(schema: Any) -> str | None:
    """What makes a tool unusable: no model API takes arguments by such a schema."""
    if schema is None:
        return "inputSchema is missing"
    if not isinstance(schema, Mapping):
        return "inputSchema is no object"
    if not schema:
        return 'inputSchema is empty: it does not even say "type": "object"'
    if schema.get("type", "object") != "object":
        return f'inputSchema says "type": {json.dumps(schema["type"])}, not "object"'
    fault = schema_fault(canonical(schema))
    return None if fault is None else f"inputSchema is no valid JSON Schema: {fault}"


def _untyped(schema: Mapping[str, Any]) -> str | None:
    return None if "type" in schema else 'inputSchema does not say "type": "object"'


def _hint_problems(annotations: Any) -> list[str]:
    if annotations is None:
        return []
    if not isinstance(annotations, Mapping):
        return ["annotations is no object"]
    return [
        f"{hint} is {json.dumps(annotations[hint])}, not true or false"
        for hint in HINTS
        if hint in annotations and not isinstance(annotations[hint], bool | None)
    ]


def catalogue_digest(tools: Sequence[ToolDefinition], instructions: str | None) -> str:
    """Digest of names, descriptions, schemas and annotations of all tools (in any order) with the instructions."""
    listed = sorted((tool.name, tool.sha256) for tool in tools)
    return digest({"instructions": instructions, "tools": [list(pair) for pair in listed]})


def tools_drift(before: Sequence[ToolDefinition], now: Sequence[ToolDefinition]) -> SessionDrift | None:
    """How two readings of a catalogue differ; None when they do not."""
    old = {tool.name: tool for tool in before}
    new = {tool.name: tool for tool in now}
    added = tuple(sorted(new.keys() - old.keys()))
    removed = tuple(sorted(old.keys() - new.keys()))
    changed = tuple(sorted(name for name in old.keys() & new.keys() if old[name].sha256 != new[name].sha256))
    kinds = ["tools"] if added or removed else []
    if any(_words(old[name]) != _words(new[name]) for name in changed):
        kinds.append("descriptions")
    if any(_shape(old[name]) != _shape(new[name]) for name in changed):
        kinds.append("schemas")
    if not added and not removed and not changed:
        return None
    parts = ((added, "new"), (removed, "gone"), (changed, "changed"))
    detail = "; ".join(f"{word}: {', '.join(names)}" for names, word in parts if names)
    return SessionDrift(tuple(kinds) or ("schemas",), added, removed, changed, detail)


def _words(tool: ToolDefinition) -> tuple[str | None, str]:
    return tool.title, tool.description


def _shape(tool: ToolDefinition) -> str:
    return canonical([tool.input_schema, tool.output_schema, tool.annotations, tool.usable])
