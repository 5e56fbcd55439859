"""A depot of orders over standard input and output, without any SDK, with bugs that no agent's script knows of.

Orders have new ids in each folder. `--sound` mends every bug. `--answers FILE` takes what an archived order is answered with
from a text outside the folder, one letter for each time it is asked for: F not found, P the order, R a rate limit.
"""

import argparse
import fcntl
import json
import os
import secrets
import sys
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sound", action="store_true")
OPTIONS.add_argument("--answers")
OPTIONS.add_argument("--lag", type=float, default=0.0)
OPTIONS.add_argument("--fixed", action="store_true")
OPTIONS.add_argument("--conflicts")
OPTIONS.add_argument("--inside", action="store_true", help="results are JSON within a text")
GIVEN = OPTIONS.parse_args()
STATE = Path("depot.json")
CALLS = {"get_customer": 0}


class Refused(Exception):
    pass


def new_id(number):
    return f"ORD-{number}" if GIVEN.fixed else f"ORD-{secrets.token_hex(4)}"


def orders():
    if not STATE.exists():
        made = [{"order_id": new_id(n), "status": s, "since": 0.0} for n, s in enumerate(("open", "held", "archived"))]
        STATE.write_text(json.dumps(made))
    return json.loads(STATE.read_text())


def keep(found):
    STATE.write_text(json.dumps(found))


def next_answer():
    if GIVEN.answers is None:
        return "F"
    with Path(GIVEN.answers).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        text = file.read()
        file.seek(0)
        file.truncate()
        file.write(text[1:])
    return text[:1] or "F"


def list_orders(given):
    if given.get("status") == "held" and not GIVEN.sound:
        raise Refused("Invalid value 'held' for status")
    wanted = given.get("status", "all")
    shown = [{"order_id": o["order_id"], "status": o["status"]} for o in orders() if wanted in ("all", o["status"])]
    return {"orders": shown}


def find(order_id):
    order = next((o for o in orders() if o["order_id"] == order_id), None)
    if order is None:
        raise Refused(f"Order {order_id} not found")
    return order


def get_order(given):
    order = find(given["order_id"])
    if time.time() - order["since"] < GIVEN.lag and not GIVEN.sound:
        raise Refused(f"Order {given['order_id']} not found")
    if order["status"] == "archived" and not GIVEN.sound:
        answer = next_answer()
        if answer == "F":
            raise Refused(f"Order {given['order_id']} not found")
        if answer == "R":
            raise Refused("rate limit exceeded, try again later")
    return order


def get_stock(given):
    if given.get("unit") == "pallet" and not GIVEN.sound:
        sys.stderr.write("fatal: no shelf for pallets\n")
        sys.stderr.flush()
        os._exit(11)
    if given.get("unit") == "silo":
        sys.stderr.write("MemoryError\n")
        sys.stderr.flush()
        os._exit(1)
    return {"item": given["item"], "pieces": 12}


def get_customer(given):
    CALLS["get_customer"] += 1
    if (CALLS["get_customer"] > 4 or Path("tired").exists()) and not GIVEN.sound:
        raise Refused("internal error: cursor is closed")
    return {"customer": given["name"], "orders": 1}


def get_report(given):
    time.sleep(0 if GIVEN.sound else 300)
    return {"report": "none"}


def issue_pass(given):
    return {"pass_id": f"{time.time():.6f}-{secrets.token_hex(6)}"}


def get_ledger(given):
    if time.time() - float(given["pass_id"].partition("-")[0]) > 0.5:
        raise Refused("this pass has expired")
    raise Refused(f"Pass {given['pass_id']} not found")


def add_order(given):
    if GIVEN.conflicts:
        with Path(GIVEN.conflicts).open("a+") as file:
            file.seek(0)
            if given["order_id"] in file.read():
                raise Refused(f"Order {given['order_id']} already exists")
            file.write(given["order_id"] + "\n")
    order = {"order_id": given.get("order_id") or new_id(len(orders())), "status": "open", "since": time.time()}
    keep([*orders(), order])
    return {"order_id": order["order_id"]}


def remove_order(given):
    find(given["order_id"])
    keep([o for o in orders() if o["order_id"] != given["order_id"]])
    return {"removed": True}


TEXT = {"type": "string"}
STATUS = {"type": "string", "enum": ["open", "held", "archived", "all"]}
TOOLS = {
    "list_orders": (list_orders, {"status": STATUS}, []),
    "get_order": (get_order, {"order_id": TEXT}, ["order_id"]),
    "get_stock": (get_stock, {"item": TEXT, "unit": {"type": "string", "enum": ["piece", "pallet", "silo"]}}, ["item"]),
    "get_customer": (get_customer, {"name": TEXT}, ["name"]),
    "get_report": (get_report, {}, []),
    "issue_pass": (issue_pass, {}, []),
    "get_ledger": (get_ledger, {"pass_id": TEXT}, ["pass_id"]),
    "add_order": (add_order, {"order_id": TEXT}, []),
    "remove_order": (remove_order, {"order_id": TEXT}, ["order_id"]),
}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        server = {"name": "depot", "version": "1.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {
            "tools": [
                {"name": n, "inputSchema": {"type": "object", "properties": p, "required": r}}
                for n, (_, p, r) in TOOLS.items()
            ]
        }
    if method == "tools/call":
        try:
            found = TOOLS[params["name"]][0](params.get("arguments") or {})
        except Refused as reason:
            return {"content": [{"type": "text", "text": str(reason)}], "isError": True}
        if GIVEN.inside:
            return {"content": [{"type": "text", "text": json.dumps({"ok": True, "data": json.dumps(found)})}]}
        return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}
    return None


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message)
        error = {"error": {"code": -32601, "message": "Method not found"}}
        body = error if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


main()
