"""A library over standard input and output, without any SDK. It lists three books and knows only two of them by their id.

`get_shelf` does not answer in time; `withdraw_book` takes a book away for good.
"""

import json
import sys
import time

BOOKS = {"BK-41001": "Tides", "BK-41002": "Ropes", "BK-41003": "Lamps"}
FORGOTTEN = "BK-41003"
TEXT = {"type": "string"}


def listed(given):
    return {"books": [{"book_id": key, "title": title} for key, title in BOOKS.items()]}


def got(given):
    key = given["book_id"]
    if key not in BOOKS or key == FORGOTTEN:
        raise LookupError(f"book {key} not found")
    return {"book_id": key, "title": BOOKS[key]}


def withdrawn(given):
    return {"withdrawn": BOOKS.pop(given["book_id"])}


TOOLS = {
    "list_books": (listed, {}, {"readOnlyHint": True}),
    "get_book": (got, {"book_id": TEXT}, {"readOnlyHint": True}),
    "get_shelf": (lambda given: time.sleep(60), {"shelf_id": TEXT}, {"readOnlyHint": True}),
    "withdraw_book": (withdrawn, {"book_id": TEXT}, {"readOnlyHint": False, "destructiveHint": True}),
}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        server = {"name": "library", "version": "1.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {
            "tools": [
                {"name": name, "description": name, "inputSchema": schema(fields), "annotations": hints}
                for name, (_, fields, hints) in TOOLS.items()
            ]
        }
    try:
        found = TOOLS[params["name"]][0](params.get("arguments") or {})
    except LookupError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}


def schema(fields):
    return {"type": "object", "properties": fields, "required": list(fields)}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
