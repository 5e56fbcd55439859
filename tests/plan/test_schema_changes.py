"""How JSON Schemas differ: what was valid and no longer is, and what only reads otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.plan.schema_changes import compare

OBJECT = {"type": "object"}
TEXT, WHOLE, NUMBER = ({"type": t} for t in ("string", "integer", "number"))


def props(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return found if required is None else found | {"required": required}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]] = {
    "equal": (props(a=TEXT), props(a=TEXT), []),
    "order of keys": ({"type": "object", "properties": {}}, {"properties": {}, "type": "object"}, []),
    "order of required": (props(["a", "b"], a=TEXT, b=TEXT), props(["b", "a"], a=TEXT, b=TEXT), []),
    "member gone": (props(a=TEXT, b=TEXT), props(a=TEXT), [("b", "other", "gone")]),
    "member new": (props(a=TEXT), props(a=TEXT, b=TEXT), [("b", "other", "new")]),
    "member new and required": (props(), props(["b"], b=TEXT), [("b", "other", "new and required")]),
    "member required now": (props(a=TEXT), props(["a"], a=TEXT), [("a", "narrower", "required")]),
    "member optional now": (props(["a"], a=TEXT), props(a=TEXT), [("a", "wider", "optional")]),
    "type narrower": (props(a=NUMBER), props(a=WHOLE), [("a", "narrower", "")]),
    "type wider": (props(a=WHOLE), props(a=NUMBER), [("a", "wider", "")]),
    "type other": (props(a=TEXT), props(a=WHOLE), [("a", "other", "")]),
    "type list": (props(a={"type": ["string", "null"]}), props(a=TEXT), [("a", "narrower", "")]),
    "type now any": (props(a=TEXT), props(a={}), [("a", "wider", "")]),
    "value gone": (props(a={"enum": ["x", "y"]}), props(a={"enum": ["x"]}), [("a", "narrower", "")]),
    "value new": (props(a={"enum": ["x"]}), props(a={"enum": ["x", "y"]}), [("a", "wider", "")]),
    "values in another order": (props(a={"enum": ["x", "y"]}), props(a={"enum": ["y", "x"]}), []),
    "values now": (props(a=TEXT), props(a=TEXT | {"enum": ["x"]}), [("a", "narrower", "")]),
    "values no more": (props(a=TEXT | {"enum": ["x"]}), props(a=TEXT), [("a", "wider", "")]),
    "constant and list of one": (props(a={"const": "x"}), props(a={"enum": ["x"]}), []),
    "least raised": (props(a={"minimum": 1}), props(a={"minimum": 2}), [("a", "narrower", "")]),
    "least lowered": (props(a={"minimum": 2}), props(a={"minimum": 1}), [("a", "wider", "")]),
    "most lowered": (props(a={"maxLength": 9}), props(a={"maxLength": 5}), [("a", "narrower", "")]),
    "most gone": (props(a={"maxLength": 9}), props(a={}), [("a", "wider", "")]),
    "pattern new": (props(a=TEXT), props(a=TEXT | {"pattern": "^x"}), [("a", "narrower", "")]),
    "pattern other": (props(a={"pattern": "a"}), props(a={"pattern": "b"}), [("a", "other", "")]),
    "described": (props(a=TEXT), props(a=TEXT | {"description": "x"}), [("a", "described", "")]),
    "default": (props(a=WHOLE | {"default": 1}), props(a=WHOLE | {"default": 2}), [("a", "described", "")]),
    "titled": (props(a=TEXT), props(a=TEXT | {"title": "A"}), [("a", "cosmetic", "")]),
    "closed": (OBJECT, OBJECT | {"additionalProperties": False}, [("", "narrower", "")]),
    "opened": (OBJECT | {"additionalProperties": False}, OBJECT, [("", "wider", "")]),
    "open by default": (OBJECT, OBJECT | {"additionalProperties": True}, []),
    "nested": (props(a=props(b=TEXT)), props(a=props(b=WHOLE)), [("a.b", "other", "")]),
    "items": (props(a={"items": NUMBER}), props(a={"items": WHOLE}), [("a[]", "narrower", "")]),
    "any of, one gone": (
        props(a={"anyOf": [TEXT, {"type": "null"}]}),
        props(a={"anyOf": [TEXT]}),
        [("a", "narrower", "")],
    ),
    "any of, one new": (props(a=TEXT), props(a={"anyOf": [TEXT, {"type": "null"}]}), [("a", "wider", "")]),
    "any of, in another order": (
        props(a={"anyOf": [TEXT, {"type": "null"}]}),
        props(a={"anyOf": [{"type": "null"}, TEXT]}),
        [],
    ),
    "any of, inside one": (
        props(a={"anyOf": [props(b=TEXT), {"type": "null"}]}),
        props(a={"anyOf": [props(b=WHOLE), {"type": "null"}]}),
        [("a.b", "other", "")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_differences(case: str) -> None:
    old, new, wanted = CASES[case]
    assert [(c.path, c.way, c.member) for c in compare(old, new)] == wanted


def test_references_are_followed() -> None:
    def schema(leaf: dict[str, Any]) -> dict[str, Any]:
        return props(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": props(b=leaf)}}

    assert [(c.path, c.way) for c in compare(schema(TEXT), schema(WHOLE))] == [("a.b", "other")]
    # said in place or by reference is the same
    assert compare(schema(TEXT), props(a=props(b=TEXT))) == ()


def test_recursive_schemas_end() -> None:
    def tree(leaf: dict[str, Any]) -> dict[str, Any]:
        node = props(value=leaf, children={"type": "array", "items": {"$ref": "#/$defs/Node"}})
        return {"$ref": "#/$defs/Node", "$defs": {"Node": node}}

    assert [(c.path, c.way) for c in compare(tree(TEXT), tree(WHOLE))] == [("value", "other")]


def test_references_that_lead_nowhere_or_in_circles_end() -> None:
    circle = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    assert compare(circle, {"type": "object"}) != ()
    assert compare({"$ref": "https://elsewhere/x.json"}, {"$ref": "#/no/such"}) != ()


def test_many_values_and_branches_take_no_long_time() -> None:
    old = props(a={"enum": [f"v{n}" for n in range(20_000)]}, b={"anyOf": [TEXT | {"const": n} for n in range(5_000)]})
    new = props(
        a={"enum": [f"v{n}" for n in range(1, 20_001)]}, b={"anyOf": [TEXT | {"const": -n} for n in range(5_000)]}
    )
    found = compare(old, new)
    assert {c.path for c in found} == {"a", "b"} and all(len(c.what) < 200 for c in found)
