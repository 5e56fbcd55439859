"""Inside tool preparation: which providers a tool's definition breaks, as findings about the server.

Each test stands for a class of public reports; see docs/agents.md. What is said here holds whatever provider is in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcpeval_dsl.gateway.model import ToolDefinition

MAX_TOOLS = 128
_LEGAL = re.compile(r"[A-Za-z0-9_-]+\Z")
_GEMINI_ONLY = ("const", "exclusiveMinimum", "exclusiveMaximum", "patternProperties", "oneOf", "not", "if")
_MAX_NODES = 5_000


def findings(tool: ToolDefinition) -> tuple[str, ...]:
    """What is wrong with one tool for some provider, each with the providers named."""
    where = f"{tool.server}.{tool.name}"
    schema = tool.input_schema
    found: list[str] = []
    if not _LEGAL.match(tool.name):
        found.append(f"{where}: characters in the name are refused by Anthropic and OpenAI (allowed: A-Z a-z 0-9 _ -)")
    if len(tool.name) > 64:
        found.append(
            f"{where}: a name of {len(tool.name)} characters is refused by OpenAI (64) and some Anthropic clients"
        )
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            found.append(f"{where}: {key} at the root of the input schema is refused by Anthropic, OpenAI and Gemini")
    if "type" not in schema:
        found.append(f"{where}: the input schema has no type; refused by Anthropic and OpenAI")
    if "properties" not in schema:
        found.append(f"{where}: the input schema has no properties; refused by OpenAI")
    found += [f"{where}: {text}" for text in _inside(schema)]
    return tuple(found)


def catalogue_findings(tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """What is wrong with the list as a whole: too long for some providers, or a name twice."""
    found = []
    if len(tools) > MAX_TOOLS:
        found.append(f"{len(tools)} tools: more than {MAX_TOOLS} are refused by OpenAI")
    seen: dict[str, str] = {}
    for tool in tools:
        other = seen.setdefault(tool.name, tool.server)
        if other != tool.server:
            found.append(f"{tool.name}: offered by {other} and {tool.server}; clients that do not qualify names break")
    return tuple(found)


def _inside(schema: Mapping[str, Any]) -> list[str]:
    seen: set[str] = set()
    for node in _nodes(schema):
        if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
            seen.add("an array without items is refused by OpenAI-compatible APIs and Gemini")
        if "$ref" in node:
            seen.add("$ref in the input schema is refused by Gemini")
        if isinstance(node.get("type"), list):
            seen.add("a list of types is refused by Gemini")
        for key in _GEMINI_ONLY:
            if key in node and node is not schema:
                seen.add(f"{key} is refused by Gemini")
    return sorted(seen)


def _nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every schema inside a schema, references not followed, bounded."""
    stack: list[Any] = [schema]
    count = 0
    while stack and count < _MAX_NODES:
        node = stack.pop()
        if not isinstance(node, Mapping):
            continue
        count += 1
        yield node
        for key, value in node.items():
            if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, Mapping):
                stack.extend(value.values())
            elif isinstance(value, list) and key in ("anyOf", "oneOf", "allOf", "prefixItems"):
                stack.extend(value)
            elif key in ("items", "additionalProperties", "not", "if", "then", "else"):
                stack.append(value)
