"""JSON Schema of tools: several drafts, broken ones, hostile ones, and stubs."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.schemas import Validators, stub

TITLED = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        (TITLED, {"title": "x"}, ()),
        (TITLED, {}, ("/: 'title' is a required property",)),
        (TITLED, {"title": 3}, ("/title: 3 is not of type 'string'",)),
        ({"$schema": "http://json-schema.org/draft-07/schema#", **TITLED}, {"title": "x"}, ()),
        ({"type": "nonsense"}, {}, None),
        ({"$ref": "https://example.invalid/schema.json"}, {}, None),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}, {"b": 1}, ()),
        ({"properties": {"a/b": {"type": "integer"}}}, {"a/b": "x"}, ("/a~1b: 'x' is not of type 'integer'",)),
        ({"properties": {"a": {"pattern": "^x+$"}}}, {"a": "y"}, ("/a: 'y' does not match '^x+$'",)),
    ],
)
def test_values_against_schemas(schema: dict[str, Any], value: Any, problems: tuple[str, ...] | None) -> None:
    assert Validators().problems("k", schema, value) == problems


@pytest.mark.timeout(30)  # a backtracking engine needs hours for it
def test_a_hostile_pattern_comes_to_an_end() -> None:
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    assert Validators().problems("k", schema, {"a": "a" * 40 + "!"}) != ()


def test_at_most_ten_problems_are_told() -> None:
    schema = {"additionalProperties": {"type": "integer"}}
    problems = Validators().problems("k", schema, {str(n): "x" for n in range(50)})
    assert problems is not None
    assert len(problems) == 10


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (None, None),
        (TITLED, {"title": ""}),
        ({"type": "array", "minItems": 2, "items": {"type": "integer"}}, [0, 0]),
        (
            {"type": "object", "properties": {"s": {"enum": ["open"]}, "n": {"type": "number", "minimum": 3}}},
            {"s": "open", "n": 3},
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, False),
        ({"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]}, ""),
        ({"const": 4}, 4),
    ],
)
def test_a_stub_has_the_schemas_shape(schema: Any, value: Any) -> None:
    assert stub(schema) == value


def test_a_schema_that_contains_itself_has_a_finite_stub() -> None:
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    assert stub(schema)["child"]["child"] is not None
