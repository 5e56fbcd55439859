"""Each row of the table in docs/lock.md: a change of a catalogue and what it does to evaluations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.plan.lock_changes import LockChange, compare_locks
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"status": {"type": "string", "enum": ["open", "closed"]}, "limit": {"type": "integer"}},
    "required": ["status"],
}
OUTPUT: dict[str, Any] = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


def tool(name: str = "list", **changes: Any) -> LockedTool:
    said: dict[str, Any] = {"input_schema": INPUT, "output_schema": OUTPUT, "annotations": {"readOnlyHint": True}}
    said |= {"description": "Lists.", "title": "List"} | changes
    return LockedTool(name=name, sha256=repr(sorted(changes.items())), **said)


def server(*tools: LockedTool, **changes: Any) -> LockedServer:
    said: dict[str, Any] = {"server": "tracker", "revision": "2025-11-25", "era": "initialize", "transport": "stdio"}
    said |= {"version": "1", "title": "t", "capabilities": {"tools": {}}, "catalogue_sha256": "x"} | changes
    return LockedServer(tools=tools or (tool(),), **said)


def taking(**properties: Any) -> dict[str, Any]:
    return INPUT | {"properties": INPUT["properties"] | properties}


def giving(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TEXT = {"type": "string"}
CASES: dict[str, tuple[LockedServer, str]] = {
    "tool gone": (server(tool("other"), tool()), "behavioural"),  # read from new to old, below
    "instructions": (server(instructions="Be quick."), "behavioural"),
    "revision": (server(revision="2026-07-28"), "behavioural"),
    "transport": (server(transport="streamable-http"), "behavioural"),
    "capability gone": (server(capabilities={}), "breaking"),
    "capability new": (server(capabilities={"tools": {}, "prompts": {}}), "behavioural"),
    "capability": (server(capabilities={"tools": {"listChanged": True}}), "behavioural"),
    "server name": (server(title="u"), "cosmetic"),
    "version": (server(version="2"), "cosmetic"),
    "tool new": (server(tool(), tool("more")), "behavioural"),
    "definition": (server(tool(input_schema=None)), "breaking"),
    "argument gone": (
        server(tool(input_schema=INPUT | {"properties": {"status": INPUT["properties"]["status"]}})),
        "breaking",
    ),
    "argument new": (server(tool(input_schema=taking(page=TEXT))), "behavioural"),
    "argument new and required": (
        server(tool(input_schema=taking(page=TEXT) | {"required": ["status", "page"]})),
        "breaking",
    ),
    "argument required": (server(tool(input_schema=INPUT | {"required": ["status", "limit"]})), "breaking"),
    "argument optional": (server(tool(input_schema=INPUT | {"required": []})), "behavioural"),
    "argument narrower": (server(tool(input_schema=taking(status={"type": "string", "enum": ["open"]}))), "breaking"),
    "argument wider": (server(tool(input_schema=taking(limit={"type": "number"}))), "behavioural"),
    "argument other": (server(tool(input_schema=taking(limit=TEXT))), "breaking"),
    "argument described": (server(tool(input_schema=taking(limit={"type": "integer", "default": 5}))), "behavioural"),
    "argument in other words": (server(tool(input_schema=INPUT | {"title": "Arguments"})), "cosmetic"),
    "result schema gone": (server(tool(output_schema=None)), "breaking"),
    "result gone": (server(tool(output_schema=giving([]))), "breaking"),
    "result new": (server(tool(output_schema=giving(["key"], key=TEXT, title=TEXT))), "behavioural"),
    "result optional": (server(tool(output_schema=giving([], key=TEXT))), "breaking"),
    "result wider": (server(tool(output_schema=giving(["key"], key={"type": ["string", "null"]}))), "breaking"),
    "result narrower": (server(tool(output_schema=giving(["key"], key=TEXT | {"enum": ["a"]}))), "behavioural"),
    "result other": (server(tool(output_schema=giving(["key"], key={"type": "integer"}))), "breaking"),
    "result described": (server(tool(output_schema=giving(["key"], key=TEXT | {"description": "x"}))), "behavioural"),
    "result in other words": (server(tool(output_schema=OUTPUT | {"title": "x"})), "cosmetic"),
    "hint": (server(tool(annotations={"readOnlyHint": False})), "behavioural"),
    "description": (server(tool(description="Lists all.")), "behavioural"),
    "title": (server(tool(title="Listing")), "cosmetic"),
}


def changes(old: LockedServer, new: LockedServer) -> tuple[LockChange, ...]:
    return compare_locks(Lock(servers=(old,)), Lock(servers=(new,)))


@pytest.mark.parametrize("kind", [kind for kind in CASES if kind != "tool gone"])
def test_each_kind_has_its_class(kind: str) -> None:
    new, classed = CASES[kind]
    assert [(c.kind, c.classed) for c in changes(server(), new)] == [(kind, classed)]


def test_kinds_that_are_seen_the_other_way_round() -> None:
    assert [(c.kind, c.classed) for c in changes(server(tool(), tool("b")), server())] == [("tool gone", "breaking")]
    without = server(tool(output_schema=None))
    assert [(c.kind, c.classed) for c in changes(without, server())] == [("result schema new", "behavioural")]
    required = server(tool(output_schema=giving([], key=TEXT)))
    assert [(c.kind, c.classed) for c in changes(required, server())] == [("result required", "behavioural")]
    whole = changes(server(tool(input_schema=None)), server())
    assert [(c.kind, c.classed) for c in whole] == [("definition", "behavioural")]


def test_servers_that_come_and_go() -> None:
    empty, one = Lock(), Lock(servers=(server(),))
    assert [(c.kind, c.classed) for c in compare_locks(one, empty)] == [("server gone", "breaking")]
    assert [(c.kind, c.classed) for c in compare_locks(empty, one)] == [("server new", "behavioural")]


def test_order_of_tools_is_no_change() -> None:
    assert changes(server(tool("a"), tool("b")), server(tool("b"), tool("a"))) == ()


def test_what_the_lock_does_not_keep_is_cosmetic() -> None:
    moved = tool().model_copy(update={"sha256": "other"})
    assert [(c.kind, c.classed) for c in changes(server(), server(moved))] == [("other members", "cosmetic")]
    titled = tool(annotations={"readOnlyHint": True, "title": "List"})
    assert [(c.kind, c.classed) for c in changes(server(), server(titled))] == [("title", "cosmetic")]


def test_the_table_of_the_manual_has_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs/lock.md").read_text()
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (breaking|behavioural|cosmetic) \|", page, re.M))
    seen = {kind: classed for kind, (_, classed) in CASES.items()} | {
        "tool gone": "breaking",
        "server gone": "breaking",
        "server new": "behavioural",
        "result schema new": "behavioural",
        "result required": "behavioural",
        "other members": "cosmetic",
    }
    assert {kind: rows.get(kind) for kind in seen} == seen
    assert rows.keys() == seen.keys()
