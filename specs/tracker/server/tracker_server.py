"""A small issue tracker as an MCP server over stdio, for the demo: `python tracker_server.py --db tracker.db`.

Nothing but the standard library, so that it starts in a moment. It speaks the revisions 2026-07-28 (`server/discover`)
and 2025-11-25 (`initialize`). One bug is in it on purpose; the suite beside it finds it.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections.abc import Mapping
from typing import Any

from tools import TOOLS, ToolFailure

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18")
NAME, VERSION = "tracker", "1.5.0"
INSTRUCTIONS = (
    "Projects are named, issues have keys. Lists are paged: ask for the next page while next_page is not null."
)
PAGE = 6


class RequestFailure(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def describe(tool: Any) -> dict[str, Any]:
    """One entry of tools/list."""
    entry: dict[str, Any] = {"name": tool.name, "inputSchema": tool.schema}
    if tool.description:
        entry["description"] = tool.description
    if tool.annotations:
        entry["annotations"] = tool.annotations
    return entry


def list_tools(params: Mapping[str, Any]) -> dict[str, Any]:
    start = int(params.get("cursor") or 0)
    page: dict[str, Any] = {"tools": [describe(tool) for tool in TOOLS[start : start + PAGE]]}
    if start + PAGE < len(TOOLS):
        page["nextCursor"] = str(start + PAGE)
    return page


def call_tool(connection: sqlite3.Connection, params: Mapping[str, Any]) -> dict[str, Any]:
    tool = next((tool for tool in TOOLS if tool.name == params.get("name")), None)
    if tool is None:
        raise RequestFailure(-32602, f"Unknown tool: {params.get('name')}")
    arguments = params.get("arguments") or {}
    missing = [name for name in tool.schema.get("required", ()) if name not in arguments]
    if missing:
        return failure(f"Missing argument: {', '.join(missing)}")
    try:
        value = tool.run(connection, arguments)
    except ToolFailure as problem:
        return failure(str(problem))
    except (TypeError, ValueError) as problem:
        return failure(f"Bad argument: {problem}")
    return {
        "content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}],
        "structuredContent": value,
        "isError": False,
    }


def failure(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def answer(connection: sqlite3.Connection, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    modern = "io.modelcontextprotocol/protocolVersion" in (params.get("_meta") or {})
    capabilities = {"tools": {"listChanged": False}}
    cached = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
    match method:
        case "server/discover":
            result = {
                "supportedVersions": [MODERN, *LEGACY],
                "capabilities": capabilities,
                "instructions": INSTRUCTIONS,
                "ttlMs": 0,
                "cacheScope": "private",
            }
        case "initialize":
            wanted = params.get("protocolVersion")
            return {
                "protocolVersion": wanted if wanted in LEGACY else LEGACY[0],
                "capabilities": capabilities,
                "serverInfo": {"name": NAME, "version": VERSION},
                "instructions": INSTRUCTIONS,
            }
        case "ping":
            return {}
        case "tools/list":
            result = {**list_tools(params), **cached}
        case "tools/call":
            result = call_tool(connection, params)
        case _:
            raise RequestFailure(-32601, f"Method not found: {method}")
    if modern:
        result["resultType"] = "complete"
        result["_meta"] = {"io.modelcontextprotocol/serverInfo": {"name": NAME, "version": VERSION}}
    return result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--db", required=True)
    connection = sqlite3.connect(options.parse_args().db, isolation_level=None)
    connection.row_factory = sqlite3.Row
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if "id" not in request or "method" not in request:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = answer(connection, request["method"], request.get("params") or {})
        except RequestFailure as problem:
            reply["error"] = {"code": problem.code, "message": problem.message}
        sys.stdout.write(json.dumps(reply, ensure_ascii=False) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
