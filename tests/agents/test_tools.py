"""Tools as providers take them: names, schemas, and what is said about both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.agents.names import wire_names
from mcpeval_dsl.agents.rewrites import rewrite
from mcpeval_dsl.agents.tools import ToolPreparation, prepare_tools, provider_of
from mcpeval_dsl.gateway.model import ToolDefinition

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
ROOT_ANY = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "anyOf": [
        {"properties": {"id": {"type": "string"}}, "required": ["id", "kind"]},
        {"properties": {"name": {"type": "string"}}, "required": ["name", "kind"]},
    ],
}


def tool(name: str, schema: Any = None, server: str = "s", **changes: Any) -> ToolDefinition:
    return ToolDefinition(server, name, input_schema=schema or {"type": "object", "properties": {}}, **changes)


@given(st.lists(st.tuples(st.sampled_from(["a", "b b"]), st.text(max_size=150)), max_size=12))
def test_names_are_legal_unique_and_lead_back(tools: list[tuple[str, str]]) -> None:
    names = wire_names(tools)
    assert len(set(names)) == len(tools) and all(LEGAL.match(name) for name in names)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=90)), max_size=8, unique=True), st.randoms())
def test_the_order_of_the_list_changes_no_name(tools: list[tuple[str, str]], dice: Any) -> None:
    shuffled = list(tools)
    dice.shuffle(shuffled)
    named = dict(zip(tools, wire_names(tools), strict=True))
    assert {pair: named[pair] for pair in shuffled} == dict(zip(shuffled, wire_names(shuffled), strict=True))


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([("s", "list_issues")], ["list_issues"]),
        ([("s", "ro.dotted-name/slash")], ["ro_dotted-name_slash"]),
        ([("a", "search"), ("b", "search")], ["a__search", "b__search"]),
    ],
)
def test_names_change_no_more_than_they_must(tools: list[tuple[str, str]], names: list[str]) -> None:
    assert list(wire_names(tools)) == names


def test_long_and_clashing_names_get_a_digest() -> None:
    long = "x" * 116
    names = wire_names([("s", long), ("s", "a.b"), ("s", "a/b")])
    assert [len(name) for name in names] == [64, 12, 12]
    assert names[0].startswith("x" * 55 + "_") and names[1] != names[2]


def test_canonical_names_stay_with_the_wire_names() -> None:
    prepared = prepare_tools("anthropic", (tool("a.b"), tool("a/b", server="t")), prefix="p_")
    assert {(w.server, w.tool) for w in prepared.by_wire_name.values()} == {("s", "a.b"), ("t", "a/b")}
    assert all(name.startswith("p_") for name in prepared.by_wire_name)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_a_root_combinator_is_flattened_and_recorded(provider: str) -> None:
    prepared = prepare_tools(provider, (tool("find", ROOT_ANY),))
    wire = prepared.wire[0]
    assert "anyOf" not in wire.schema and set(wire.schema["properties"]) == {"a", "id", "name"}
    assert wire.schema["required"] == ["kind"]
    assert prepared.rewrites and prepared.rewrites[0].startswith("s.find: root anyOf flattened")
    assert any("anyOf at the root" in text and "OpenAI" in text for text in prepared.findings)


def test_a_scripted_model_is_given_the_schema_as_it_is_and_the_finding_stands_all_the_same() -> None:
    prepared = prepare_tools("script", (tool("find", ROOT_ANY),))
    assert prepared.wire[0].schema == ROOT_ANY and prepared.rewrites == ()
    assert any("anyOf at the root" in text for text in prepared.findings)


RECURSIVE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {"node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}},
}


@pytest.mark.parametrize(
    ("provider", "schema", "made", "lost"),
    [
        ("openai", {}, {"type": "object", "properties": {}}, 0),
        ("openai", {"type": "object"}, {"type": "object", "properties": {}}, 0),
        ("anthropic", {"$schema": "x", "type": "object", "properties": {}}, {"type": "object", "properties": {}}, 0),
        (
            "openai",
            {"type": "object", "properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
            0,
        ),
        (
            "gemini",
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
            {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}},
            0,
        ),
        (
            "gemini",
            {"type": "object", "properties": {"a": {"const": "x"}}},
            {"type": "object", "properties": {"a": {"enum": ["x"]}}},
            0,
        ),
        (
            "gemini",
            {"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}},
            {"type": "object", "properties": {"a": {"type": "integer"}}},
            1,
        ),
        (
            "gemini",
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
            0,
        ),
        (
            "gemini",
            RECURSIVE,
            {
                "type": "object",
                "properties": {"node": {"type": "object", "properties": {"child": {"type": "object"}}}},
            },
            1,
        ),
        ("anthropic", RECURSIVE, RECURSIVE, 0),
    ],
)
def test_schemas(provider: str, schema: Any, made: Any, lost: int) -> None:
    written, losses = rewrite(provider, schema)
    assert (written, len(losses)) == (made, lost)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_a_schema_that_grows_without_end_is_cut(provider: str) -> None:
    wide = {f"p{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(8)}
    schema: dict[str, Any] = {"type": "object", "properties": wide, "$defs": {}}
    for level in range(1, 12):
        schema["$defs"][f"d{level}"] = {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/$defs/d{level + 1}"} for i in range(8)},
        }
    schema["$defs"]["d12"] = {"type": "string"}
    written, _ = rewrite(provider, schema)
    assert written["type"] == "object"


def test_property_names_that_are_keywords_stay() -> None:
    schema = {"type": "object", "properties": {"const": {"type": "string"}, "$schema": {"type": "string"}}}
    assert set(rewrite("gemini", schema)[0]["properties"]) == {"const", "$schema"}


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (tool("a b"), "characters in the name"),
        (tool("x" * 65), "65 characters"),
        (tool("t", {"properties": {}}), "no type"),
        (tool("t", {"type": "object"}), "no properties"),
        (tool("t", {"type": "object", "properties": {"a": {"type": "array"}}}), "without items"),
        (tool("t", RECURSIVE), "$ref"),
        (tool("t", {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}), "list of types"),
        (tool("t", {"type": "object", "properties": {"a": {"const": 1}}}), "const is refused by Gemini"),
    ],
)
def test_what_breaks_a_provider_is_a_finding(definition: ToolDefinition, words: str) -> None:
    found = prepare_tools("script", (definition,)).findings
    assert any(words in text for text in found)


def test_a_sound_tool_has_no_finding() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert prepare_tools("script", (tool("t", schema),)).findings == ()


def test_a_name_on_two_servers_is_a_finding() -> None:
    found = prepare_tools("script", (tool("t"), tool("t", server="u"))).findings
    assert any("offered by s and u" in text for text in found)


def test_a_broken_tool_is_left_out_and_said_so() -> None:
    broken = tool("bad", usable=False, finding="input schema is no object")
    prepared = prepare_tools("script", (tool("good"), broken))
    assert [w.tool for w in prepared.wire] == ["good"]
    assert any("not offered" in text for text in prepared.findings)


def test_more_than_128_tools_are_an_error_for_openai_only() -> None:
    tools = tuple(tool(f"t{i}") for i in range(129))
    assert prepare_tools("openai", tools).error is not None
    assert prepare_tools("anthropic", tools).error is None


@pytest.mark.parametrize(
    ("driver", "provider"),
    [
        ("anthropic", "anthropic"),
        ("script", "script"),
        ("litellm:openai", "openai"),
        ("litellm:anthropic", "anthropic"),
        ("litellm:vertex_ai", "gemini"),
        ("litellm:gemini", "gemini"),
        ("litellm:mistral", "openai"),
    ],
)
def test_provider_of(driver: str, provider: str) -> None:
    assert provider_of(driver) == provider


def test_preparation_is_remembered_by_digest() -> None:
    preparation = ToolPreparation()
    tools = (tool("t", sha256="1"),)
    assert preparation.prepare("script", tools) is preparation.prepare("script", tools)
    changed = preparation.prepare("script", (tool("t", description="new", sha256="2"),))
    assert changed.wire[0].description == "new"
