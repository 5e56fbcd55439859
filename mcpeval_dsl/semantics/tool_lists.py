"""Semantics: tools that a file lists, for `distract`: a catalogue, a lock file, or what `tools/list` answered.

Pure: from a text to entries in the form of the protocol. The shipped catalogues are named here and stored in `gateway`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mcpeval_dsl.frozen import dataclass

SHIPPED: Mapping[str, int] = {"kubernetes": 46, "issue_tracker": 42, "mail_calendar": 42, "cloud_storage": 40}
"""Name of each shipped catalogue -> how many tools it has."""

_FROM_LOCK = {
    "title": "title",
    "description": "description",
    "input_schema": "inputSchema",
    "output_schema": "outputSchema",
    "annotations": "annotations",
}


@dataclass(frozen=True, slots=True)
class ToolList:
    """(server, entry) of every tool in order; `problem` says what is wrong with the text, and then there are none.

    The server is empty where the text does not name one.
    """

    entries: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    problem: str = ""


def read_tool_list(text: str) -> ToolList:
    """The tools of a file. Never raises."""
    try:
        value = json.loads(text)
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        return ToolList(problem=f"it is no JSON{where}")
    except RecursionError:
        return ToolList(problem="it is nested too deeply")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for server, entry in _listed(value):
        problem = _unusable(entry)
        if problem:
            return ToolList(problem=f"tool {len(found) + 1} {problem}")
        found.append((server, entry))
    return ToolList(tuple(found)) if found else ToolList(problem="it lists no tools")


def _listed(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and isinstance(value.get("servers"), list):
        for server in value["servers"]:
            if isinstance(server, Mapping) and isinstance(server.get("tools"), list):
                yield from ((str(server.get("server", "")), _of_lock(tool)) for tool in server["tools"])
        return
    if isinstance(value, Mapping):
        result = value.get("result")
        holder = result if isinstance(result, Mapping) else value
        name = value.get("name")
        listed = holder.get("tools")
        if isinstance(listed, list):
            yield from ((name if isinstance(name, str) else "", tool) for tool in listed)
    elif isinstance(value, list):
        yield from (("", tool) for tool in value)


def _of_lock(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    entry = {theirs: tool[ours] for ours, theirs in _FROM_LOCK.items() if tool.get(ours) is not None}
    return {"name": tool.get("name"), **entry}


def _unusable(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "is no object"
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        return "has no name"
    return "" if isinstance(entry.get("inputSchema"), Mapping) else f"(`{name}`) has no inputSchema"
