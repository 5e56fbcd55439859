"""A server whose tools each break the wire in one way, over standard input and output; `get_fine` breaks nothing."""

import json
import os
import sys

TOOLS = (
    "get_fine",
    "get_soft_error",
    "get_report",
    "get_gone_coded",
    "get_gone_worded",
    "get_utf8",
    "get_noise",
    "get_half",
    "get_large",
    "get_flood",
)
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n'


def out(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(message):
    out(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def text(identity, words, **more):
    say({"id": identity, "result": {"content": [{"type": "text", "text": words}], **more}})


def call(identity, name):
    if name == "get_soft_error":
        text(identity, "Error: no such table: loans")
    elif name == "get_report":
        text(identity, "Errors in the last week: 3. The worst was 'Error: no such table'.")
    elif name == "get_gone_coded":
        say({"id": identity, "error": {"code": -32602, "message": "Unknown tool: get_gone_coded"}})
    elif name == "get_gone_worded":
        text(identity, "MCP error -32602: Tool get_gone_worded not found", isError=True)
    elif name == "get_utf8":
        out(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}\n' % identity)
    elif name == "get_noise":
        out(b"connecting to the database ...\nDEBUG: 3 rows\n")
        text(identity, "after the noise")
    elif name == "get_half":
        out(b'{"jsonrpc":"2.0","id":%d,"res' % identity)
        os._exit(5)
    elif name == "get_large":
        text(identity, "row " * (4 << 20) + "the end")
    elif name == "get_flood":
        out(NOTE * 20_000)
        text(identity, "after the flood")
    else:
        text(identity, "fine")


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, identity = message["method"], message.get("id")
        if identity is None:
            continue
        if method == "initialize":
            known = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            say({"id": identity, "result": {**known, "serverInfo": {"name": "wires", "version": "1"}}})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            say({"id": identity, "result": {"tools": tools}})
        elif method == "tools/call":
            call(identity, message["params"]["name"])
        else:
            say({"id": identity, "error": {"code": -32601, "message": "Method not found"}})


main()
