"""Which tools fit together: what one lists, another takes."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.interchange.starter.model import tools_of
from mcpeval_dsl.interchange.starter.pairs import pairs
from mcpeval_dsl.interchange.starter.samples import arguments
from mcpeval_dsl.plan.model import LockedTool

from .catalogues import DESTROYS, TEXT, giving, listing, server, taking, tool

WHOLE = {"type": "integer"}
NAMES = {"type": "array", "items": TEXT}


def by_reference(name: str, *fields: str) -> dict[str, Any]:
    item = {"$ref": "#/$defs/Row"}
    rows = {"type": "array", "items": item}
    return giving(**{name: {"anyOf": [rows, {"type": "null"}]}, "n": WHOLE}) | {
        "$defs": {"Row": giving(**dict.fromkeys(fields, TEXT))}
    }


CASES: dict[str, tuple[tuple[LockedTool, ...], list[str]]] = {
    "by the same key": (
        (tool("list_issues", gives=listing("issues", "key")), tool("get_issue", taking("key"))),
        ["list_issues $.issues[0].key get_issue(key)"],
    ),
    "by an id with the thing's name": (
        (tool("list_orders", gives=listing("items", "id", "total")), tool("get_order", taking("order_id"))),
        ["list_orders $.items[0].id get_order(order_id)"],
    ),
    "of things whose plural ends like that of a box": (
        (tool("list_cases", gives=listing("cases", "id")), tool("get_case", taking("id"))),
        ["list_cases $.cases[0].id get_case(id)"],
    ),
    "in camel case": (
        (tool("listOrders", gives=listing("items", "orderId")), tool("getOrder", taking("orderId"))),
        ["listOrders $.items[0].orderId getOrder(orderId)"],
    ),
    "as a list of one": (
        (
            tool("list_nodes", gives=listing("nodes", "name")),
            tool("open_nodes", taking(names=NAMES) | {"required": ["names"]}),
        ),
        ["list_nodes $.nodes[0].name open_nodes(names)*"],
    ),
    "by reference and maybe null": (
        (tool("list_rows", gives=by_reference("rows", "id")), tool("get_row", taking("id"))),
        ["list_rows $.rows[0].id get_row(id)"],
    ),
    "with other arguments that may be left out": (
        (tool("list_rows", gives=listing("rows", "id")), tool("get_row", taking("id", verbose={"type": "boolean"}))),
        ["list_rows $.rows[0].id get_row(id)"],
    ),
    "two of them": (
        (
            tool("list_issues", gives=listing("issues", "id")),
            tool("get_issue", taking("id")),
            tool("list_users", gives=listing("users", "id")),
            tool("get_user", taking("id")),
        ),
        ["list_issues $.issues[0].id get_issue(id)", "list_users $.users[0].id get_user(id)"],
    ),
    "no: another thing with an id": (
        (tool("list_issues", gives=listing("issues", "id")), tool("get_user", taking("id"))),
        [],
    ),
    "no: it takes two": ((tool("list_rows", gives=listing("rows", "id")), tool("get_row", taking("id", "table"))), []),
    "no: listing takes one": (
        (tool("list_rows", taking("table"), listing("rows", "id")), tool("get_row", taking("id"))),
        [],
    ),
    "no: it is not read-only": (
        (tool("list_rows", gives=listing("rows", "id")), tool("delete_row", taking("id"), hints=DESTROYS)),
        [],
    ),
    "no: nothing is known of the rows": (
        (tool("list_rows", gives=giving(rows={"type": "array"}, n=WHOLE)), tool("get_row", taking("id"))),
        [],
    ),
    "no: it takes an object": (
        (
            tool("list_rows", gives=listing("rows", "id")),
            tool("get_row", taking(id={"type": "object"}) | {"required": ["id"]}),
        ),
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_pairs(case: str) -> None:
    tools, wanted = CASES[case]
    found = pairs(tools_of(server(*tools), "tracker"))
    said = [f"{p.listing.name} {p.key.path} {p.getting.name}({p.argument}){'*' * p.many}" for p in found]
    assert sorted(said) == wanted


SAMPLES: dict[str, tuple[Any, Any]] = {
    "a text": (TEXT, "example"),
    "a number": ({"type": "integer"}, 1),
    "a number from ten": ({"type": "integer", "minimum": 10}, 10),
    "a number below": ({"type": "number", "exclusiveMaximum": 1}, None),
    "true or false": ({"type": "boolean"}, False),
    "true, false or a text": ({"type": ["string", "boolean"]}, False),
    "listed": ({"enum": ["a", "b"]}, "a"),
    "an example": ({"type": "string", "examples": ["BILL-1"]}, "BILL-1"),
    "a default": ({"type": "string", "default": "x"}, "x"),
    "a date": ({"type": "string", "format": "date"}, "2026-01-01"),
    "a pattern": ({"type": "string", "pattern": "^A"}, None),
    "a long text": ({"type": "string", "minLength": 100}, None),
    "a list": ({"type": "array", "items": TEXT}, []),
    "a list of one": ({"type": "array", "items": TEXT, "minItems": 1}, ["example"]),
    "an object": ({"type": "object", "properties": {"a": TEXT}, "required": ["a"]}, {"a": "example"}),
    "a template": ({"type": "string", "default": "{{ x }}"}, "example"),
    "null or a number": ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
    "endless": ({"$ref": "#/properties/a"}, None),
    "anything": ({}, "example"),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_samples(case: str) -> None:
    schema, wanted = SAMPLES[case]
    (made,) = tools_of(server(tool("get", {"type": "object", "properties": {"a": schema}, "required": ["a"]})), "t")
    assert arguments(made) == (None if wanted is None else {"a": wanted})
