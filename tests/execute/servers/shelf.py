"""A shelf of named things over standard input and output, without any SDK. Its state is the file `shelf.json` of its folder.

`--mode` makes it misbehave at its start, the tools `die`, `hang` and `spawn` in the middle.
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
OPTIONS.add_argument("--state", default="shelf.json")
GIVEN = OPTIONS.parse_args()
STATE = Path(GIVEN.state)


def things():
    return json.loads(STATE.read_text()) if STATE.exists() else []


def keep(found):
    STATE.write_text(json.dumps(found))
    return {"things": found}


def spawn(given):
    child = subprocess.Popen(["sleep", "300"], start_new_session=bool(given.get("session")), stdout=subprocess.DEVNULL)
    return {"pid": child.pid}


def die(given):
    sys.stderr.write("fatal: the shelf fell down\n")
    sys.stderr.flush()
    os._exit(7)


def place(given):
    return {"cwd": str(Path.cwd()), "pid": os.getpid(), "mode": oct(Path("..").stat().st_mode & 0o777)}


def asked(given):
    """Ask the host's person something, as a server may in the middle of a call."""
    question = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}}}
    ask = {"jsonrpc": "2.0", "id": "question", "method": "elicitation/create", "params": question}
    print(json.dumps(ask), flush=True)
    return json.loads(sys.stdin.readline())["result"]


TOOLS = {
    "get_asked": asked,
    "list_things": lambda given: {"things": things()},
    "get_thing": lambda given: {"name": things()[given.get("number", 0)]},
    "get_variables": lambda given: dict(os.environ),
    "get_place": place,
    "get_error": lambda given: 1 / 0,
    "get_prose": lambda given: given.get("text", "['a', 'b']"),
    "get_die": die,
    "get_killed": lambda given: os.kill(os.getpid(), 9),
    "get_hang": lambda given: time.sleep(300),
    "get_spawned": spawn,
    "add_thing": lambda given: keep([*things(), given["name"]]),
    "remove_thing": lambda given: keep([name for name in things() if name != given["name"]]),
    "wipe_all": lambda given: keep([]),
}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        server = {"name": "shelf", "version": "2.1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}}, "serverInfo": server}
    if method == "tools/list":
        more = "x" if GIVEN.mode == "changed" else ""
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        return {"tools": [{"name": name, "description": f"{name}{more}", "inputSchema": schema} for name in TOOLS]}
    if method == "tools/call":
        return called(params)
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "kept text"}]}
    return None


def called(params):
    try:
        found = TOOLS[params["name"]](params.get("arguments") or {})
    except Exception as error:
        return {"content": [{"type": "text", "text": f"it went wrong: {type(error).__name__}"}], "isError": True}
    if isinstance(found, str):
        return {"content": [{"type": "text", "text": found}]}
    return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}


def main():
    if GIVEN.mode == "exits":
        sys.exit("SHELF_TOKEN is not set")
    if GIVEN.mode == "hangs":
        time.sleep(300)
    if GIVEN.mode == "noise":
        print("Loading the shelf…\n\x1b[31mwarning\x1b[0m", flush=True)
    if GIVEN.mode == "orphan":
        spawn({"session": True})
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message)
        error = {"error": {"code": -32601, "message": "Method not found"}}
        body = error if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


main()
