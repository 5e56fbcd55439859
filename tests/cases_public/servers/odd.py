"""A lending library over standard input and output, without any SDK; `--mode` names its fault.

Every request is noted in the file `--log`, so that a test sees what the server was asked, in all its processes.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--mode", default="good")
OPTIONS.add_argument("--log")
GIVEN = OPTIONS.parse_args()
MODE = GIVEN.mode
LONG_NAME = "find.books-by/" + "x" * 102


def tool(name, **more):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {"name": name, "description": f"{name} of the library", "inputSchema": schema, **more}


def tools():
    base = [tool(name) for name in ("get_books", "get_lent", "get_variables", "get_end")]
    if MODE == "forgets":
        keyed = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
        return [tool("list_pages"), tool("get_page", inputSchema=keyed)]
    if MODE in ("paged", "endless"):
        return [tool(f"get_shelf_{number}") for number in range(1, 6)]
    if MODE == "many":
        return [tool(f"get_shelf_{number}") for number in range(1, 35)] + [{"name": "get_broken", "inputSchema": {}}]
    if MODE == "wipe":
        return [*base, tool("wipe_all"), tool("lend_book"), tool("burn_book", annotations={"destructiveHint": True})]
    if MODE == "silent":
        writes = tool("lend_book", annotations={"readOnlyHint": False})
        return [*base, writes, tool("note", annotations={"readOnlyHint": False, "destructiveHint": False})]
    if MODE == "refuses":
        return [*base, tool("get_refusal")]
    if MODE == "broken":
        strange = [{}, [], "object", {"type": "array"}, {"type": "object", "properties": 7}, {"$ref": "#/gone"}, True]
        named = [{"name": f"get_strange_{n}", "inputSchema": schema} for n, schema in enumerate(strange)]
        hints = tool("get_hinted", annotations={"readOnlyHint": "yes"}, outputSchema=[], title=7, description=None)
        return [*base, *named, hints, {"name": "get_listed"}, {"name": 7, "inputSchema": {}}, "get_text", None]
    if MODE == "shape":
        shape = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
        return [tool("get_count", outputSchema=shape)]
    if MODE == "names":
        return [*base, tool("ro.dotted-name/slash"), tool(LONG_NAME)]
    if MODE == "union":
        either = {"anyOf": [{"required": ["title"]}, {"required": ["number"]}]}
        fields = {"title": {"type": "string"}, "number": {"type": "integer"}}
        return [*base, tool("get_book", inputSchema={"type": "object", "properties": fields, **either})]
    if MODE == "slow":
        return [tool("get_slowly")]
    return base


def page(params):
    if MODE == "endless":
        start = int(params.get("cursor") or 0)
        return {"tools": [tool(f"get_shelf_{start}")], "nextCursor": str(start + 1)}
    if MODE != "paged":
        return {"tools": tools()}
    start = int(params.get("cursor") or 0)
    more = {"nextCursor": str(start + 2)} if start + 2 < 5 else {}
    return {"tools": tools()[start : start + 2], **more}


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def structured(value):
    return text(json.dumps(value), structuredContent=value)


def called(params):
    name, given = params["name"], params.get("arguments") or {}
    if name == "get_lent":
        return text("there is no reader of that name", isError=True)
    if name == "get_variables":
        return text(json.dumps(dict(os.environ)))
    if name == "get_end":
        sys.stderr.write("fatal: the library burnt down\n")
        sys.stderr.flush()
        os._exit(7)
    if name == "get_count":
        return structured({"count": "many"})
    if name == "get_slowly":
        for step in range(int(given.get("steps", 8))):
            time.sleep(float(given.get("pause", 0.4)))
            token = params.get("_meta", {}).get("progressToken")
            if token is not None and given.get("tells", True):
                note = {"progressToken": token, "progress": step}
                say({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})
        return text("slow but sure")
    if name == "get_books" and MODE == "frail" and not Path("died").exists():
        Path("died").touch()
        os._exit(9)
    if name == "get_books" and MODE == "long":
        return text("Emma " * 100_000)
    if name == "list_pages":
        return structured({"pages": [{"key": "PAGE-1702"}]})
    if name == "get_page":
        return text(f"page {given['key']} not found", isError=True)
    if name == "get_books":
        return structured({"books": ["Emma", "Persuasion"], "none": []})
    return structured({"called": name, "given": given})


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "server/discover":
        if MODE == "deaf":
            time.sleep(12)
        if MODE == "touchy":
            sys.exit(4)
    if method == "initialize":
        server = {"name": "library", "version": "3.1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return page(params)
    if method == "tools/call":
        return called(params)
    return None


def note(words):
    if GIVEN.log:
        with Path(GIVEN.log).open("a") as file:
            file.write(f"{os.getpid()} {words}\n")


def main():
    if MODE == "parent":
        subprocess.Popen(["sleep", "300"], start_new_session=True, stdout=subprocess.DEVNULL)
    for line in sys.stdin:
        message = json.loads(line)
        note(f"{message.get('method')} {(message.get('params') or {}).get('name', '')}".strip())
        if "id" not in message:
            continue
        if (message.get("params") or {}).get("name") == "get_refusal":
            error = {"code": -32000, "message": "the database is closed"}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
            continue
        result = answer(message)
        body = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        say({"jsonrpc": "2.0", "id": message["id"], **body})


main()
