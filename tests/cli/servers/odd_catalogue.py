"""A server whose catalogue is odd in the way that its argument names: `prompts only`, `500 tools`, `hostile`."""

from __future__ import annotations

import json
import sys
from typing import Any

KIND = sys.argv[1]
HOSTILE = 'x"\n}\ntask evil { prompt "{{ workdir }}" }\n# \u2028 \u202e \x1b[31m {% raw %} <!-- \\ """ ${x} '
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
READS = {"readOnlyHint": True}
TOOLS: dict[str, list[dict[str, Any]]] = {
    "500 tools": [{"name": f"tool_{n}", "inputSchema": SCHEMA} for n in range(500)],
    "hostile": [
        {"name": HOSTILE, "title": HOSTILE, "description": HOSTILE, "inputSchema": SCHEMA, "annotations": READS},
        {"name": "readonly", "inputSchema": SCHEMA, "annotations": READS | {"title": HOSTILE}},
        {"name": "broken", "inputSchema": 5},
        {"inputSchema": SCHEMA},
    ],
}


def answer(method: str) -> dict[str, Any] | None:
    text = HOSTILE if KIND == "hostile" else "odd"
    if method == "initialize":
        can: dict[str, Any] = {"prompts": {}} if KIND == "prompts only" else {"tools": {}}
        about = {"name": text, "version": text}
        return {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": about, "instructions": text}
    return {"tools": TOOLS[KIND]} if method == "tools/list" and KIND in TOOLS else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        found = answer(message["method"])
        error = {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"]} | ({"result": found} if found else error)), flush=True)
