"""Project, for commands that only check: what a lock says of tools, without the classes that plans are made of.

Those cost more time than all of lint. So a lock that is just as `mcpe lock` wrote it, which its digests show, is read as
plain data; any other one goes the long way, which knows what to say about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.plan.lock_digest import FORMAT, HINTS, MOST_BYTES, entry_digest
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool


def known_of(data: bytes) -> dict[str, KnownServer] | None:
    """Tools by server; None where the file is not exactly one of ours."""
    if len(data) > MOST_BYTES:
        return None
    try:
        value = json.loads(data.decode("utf-8", "surrogatepass"))
        if not isinstance(value, dict) or value.keys() - {"servers"} != {"format"} or value["format"] != FORMAT:
            return None
        found = [_server(entry) for entry in value.get("servers", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    servers = {server.server: server for server in found}
    return servers if len(servers) == len(found) else None


def _server(entry: dict[str, Any]) -> KnownServer:
    """Raises ValueError for an entry that is not as its digest says."""
    if entry["sha256"] != entry_digest(entry):
        raise ValueError
    return KnownServer(_text(entry["server"]), {_text(tool["name"]): _tool(tool) for tool in entry.get("tools", ())})


def _tool(tool: dict[str, Any]) -> KnownTool:
    hints = tool.get("annotations") or {}
    given = {field: hint if isinstance(hint := hints.get(name), bool) else None for field, name in HINTS.items()}
    description = _text(tool.get("description", ""))
    return KnownTool(tool["name"], description, _schema(tool, "input_schema"), _schema(tool, "output_schema"), **given)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _schema(tool: dict[str, Any], name: str) -> Mapping[str, Any] | None:
    found = tool.get(name)
    if found is not None and not isinstance(found, dict):
        raise TypeError
    return found
