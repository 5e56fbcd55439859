"""`mcpe.lock`: bytes, what the checker learns from it, and how catalogues differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mcpeval_dsl.plan import lock
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

from . import suites as s

SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}}


def tool(name: str = "get_issue", **changes: Any) -> LockedTool:
    values: dict[str, Any] = {
        "description": "One issue.",
        "input_schema": SCHEMA,
        "annotations": {"readOnlyHint": True},
    }
    values |= changes
    return LockedTool(name=name, sha256=digest(values), **values)


def server(*tools: LockedTool, name: str = "tracker", **changes: Any) -> LockedServer:
    values: dict[str, Any] = {"revision": "2025-11-25", "era": "initialize", "transport": "stdio"}
    values |= {"catalogue_sha256": digest([t.sha256 for t in tools] + [str(changes)])}
    return LockedServer(server=name, tools=tools, **(values | changes))


def test_round_trip_and_order() -> None:
    two = Lock(servers=(server(tool("b"), tool("a")), server(name="another")))
    data = lock.write(two)
    found = lock.read(data).value
    assert found is not None and [x.server for x in found.servers] == ["another", "tracker"]
    assert [t.name for t in found.servers[1].tools] == ["a", "b"]
    assert lock.write(found) == data


def test_same_catalogue_gives_the_same_bytes_whatever_the_order_of_keys() -> None:
    first = server(tool(input_schema={"type": "object", "title": "x"}), capabilities={"a": 1, "b": {}})
    second = first.model_copy(
        update={
            "tools": (first.tools[0].model_copy(update={"input_schema": {"title": "x", "type": "object"}}),),
            "capabilities": {"b": {}, "a": 1},
        }
    )
    assert lock.write(Lock(servers=(first,))) == lock.write(Lock(servers=(second,)))


def test_lock_fits_the_published_schema() -> None:
    schema = json.loads((Path(__file__).parents[2] / "schemas/lock.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(lock.write(s.locked())))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"nothing", "no JSON (line 1)"),
        (b'{"format": "mcpe-plans/1"}', "it is a plan file"),
        (b'{"format": "mcpe-lock/1", "servers": [{"server": "x"}]}', "$.servers[0]: the field `revision` is missing"),
    ],
)
def test_what_is_no_lock_says_so(data: bytes, what: str) -> None:
    (found,) = lock.read(data).diagnostics
    assert found.code == "MCPE401" and what in found.title and found.hint == "write it again with `mcpe lock`"


def test_checker_learns_tools_schemas_and_hints() -> None:
    hints = {"readOnlyHint": True, "destructiveHint": "no", "title": "x"}
    known = lock.known(Lock(servers=(server(tool(annotations=hints)),)))["tracker"].tools["get_issue"]
    assert known.input_schema == SCHEMA and known.read_only_hint is True
    assert known.destructive_hint is None and known.open_world_hint is None
    assert lock.known(None) == {}


@pytest.mark.parametrize(
    ("new", "part", "what"),
    [
        ((), "tools", "tool `get_issue` is gone"),
        ((tool(), tool("purge")), "tools", "tool `purge` is new"),
        ((tool(description="Other."),), "descriptions", "tool `get_issue`: its description changed"),
        ((tool(title="Other"),), "descriptions", "tool `get_issue`: its title changed"),
        ((tool(annotations={}),), "schemas", "tool `get_issue`: its hints changed"),
        ((tool(output_schema={}),), "schemas", "tool `get_issue`: the schema of its result changed"),
        (
            (tool(input_schema={"properties": {"id": {}}}),),
            "schemas",
            "tool `get_issue`: argument key gone; argument id new",
        ),
    ],
)
def test_differences(new: tuple[LockedTool, ...], part: lock.Part, what: str) -> None:
    changes = lock.diff(server(tool()), server(*new))
    assert [(c.part, c.what) for c in changes] == [(part, what)]
    assert lock.permitted(changes, (part,)) == ()
    assert lock.permitted(changes, ()) == changes


def test_equal_catalogues_do_not_differ() -> None:
    assert lock.diff(server(tool()), server(tool())) == ()


def test_changed_instructions_are_a_description() -> None:
    (change,) = lock.diff(server(tool()), server(tool(), instructions="Be quick."))
    assert change.part == "descriptions"


def test_merge_keeps_what_was_not_asked_and_drops_what_the_spec_lost() -> None:
    old = Lock(servers=(server(name="a"), server(name="b"), server(name="gone")))
    new = server(tool(), name="b")
    assert lock.merge(old, [new], ["a", "b"]).servers == (old.servers[0], new)
