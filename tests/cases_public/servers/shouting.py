"""A server that puts escapes of terminals, turned writing and markup into every text it sends."""

import json
import sys

EVIL = "\x1b[31mRED\x1b[0m\x1b]0;title\x07\x9b2J\r\nFAKE: all passed\u202egnp.exe\u2066[bold]m[/bold]"
EVIL += "<script>alert(1)</script>\x00\ud83d"


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name, schema=None, hint=True):
    return {
        "name": name,
        "title": EVIL,
        "description": f"{EVIL} {name}",
        "inputSchema": schema or {"type": "object", "properties": {"key": {"type": "string", "description": EVIL}}},
        "annotations": {"readOnlyHint": hint, "title": EVIL},
    }


# Without half a character, which no host can give back as it was.
KEY = "KANBAN-1702" + EVIL.removesuffix("\x00\ud83d")


def call(identity, name):
    if name == "list_pages":
        found = {"pages": [{"key": KEY, EVIL: EVIL}]}
        say(
            {
                "id": identity,
                "result": {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found},
            }
        )
    elif name == "get_page":
        text = [{"type": "text", "text": f"page not found: {KEY}"}]
        say({"id": identity, "result": {"content": text, "isError": True}})
    elif name == "get_coded":
        say({"id": identity, "error": {"code": -32603, "message": f"internal error {EVIL}", "data": {EVIL: EVIL}}})
    else:
        sys.stderr.write(f"Traceback (most recent call last):\n{EVIL}\n".encode("utf-8", "replace").decode())
        sys.stderr.flush()
        sys.exit(3)


def main():
    sys.stderr.reconfigure(errors="replace")
    sys.stderr.write(EVIL + "\n")
    for line in sys.stdin:
        message = json.loads(line)
        method, identity = message["method"], message.get("id")
        if identity is None:
            continue
        if method == "initialize":
            info = {"name": EVIL, "version": EVIL, "title": EVIL}
            known = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": EVIL}
            say({"id": identity, "result": {**known, "serverInfo": info}})
        elif method == "tools/list":
            odd = {"name": "get_odd" + EVIL, "inputSchema": {"type": EVIL}}
            names = ("list_pages", "get_page", "get_coded", "get_end", "wipe" + EVIL)
            say({"id": identity, "result": {"tools": [*(tool(name) for name in names), odd]}})
        elif method == "tools/call":
            call(identity, message["params"]["name"])
        else:
            say({"id": identity, "error": {"code": -32601, "message": EVIL}})


main()
