"""Which tools stand in the way, what they look like, and what they answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpeval_dsl.agents.breakage import findings
from mcpeval_dsl.agents.tools import prepare_tools
from mcpeval_dsl.gateway.catalogue import canonical
from mcpeval_dsl.gateway.decoys import Decoys
from mcpeval_dsl.gateway.distractors import NoSuchTools, among, catalogue_tools, distractors, shipped
from mcpeval_dsl.gateway.lookalikes import look_alikes
from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.gateway.plausible import plausible_text, plausible_value
from mcpeval_dsl.gateway.schemas import Validators
from mcpeval_dsl.semantics.disturbances import CatalogueTools, Distraction, LookAlikes
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.tool_lists import SHIPPED
from mcpeval_dsl.values.model import Scope
from tests.gateway.calls import pattern

LIST = ToolDefinition(
    "files",
    "list_directory",
    description="List the files of a directory.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    output_schema={"type": "object", "properties": {"files": {"type": "array", "items": {"type": "string"}}}},
    sha256="1",
)
READ = ToolDefinition("files", "read_file", description="Read a file.", sha256="2")
KUBERNETES = CatalogueTools(Literal("kubernetes"), 12, True)


def drawn(*lines: Distraction, seed: str = "1", shown: tuple[ToolDefinition, ...] = (LIST, READ)) -> list[str]:
    found = distractors(
        lines, shown, seed, lambda line: catalogue_tools(shipped("kubernetes"), "kubernetes"), Scope({})
    )
    return [f"{tool.server}.{tool.name}" for tool in found]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_catalogue_is_whole_and_fit_for_every_provider(name: str) -> None:
    tools = catalogue_tools(shipped(name), name)
    assert len(tools) == SHIPPED[name] and all(tool.distractor and tool.server == name for tool in tools)
    assert [text for tool in tools for text in findings(tool)] == []
    assert all(len(tool.description) > 15 and tool.output_schema is not None for tool in tools)
    assert len({tool.description for tool in tools}) == len(tools)
    reads = [tool.annotations.get("readOnlyHint") for tool in tools]
    assert reads.count(True) >= 10 and reads.count(False) >= 10


def test_there_are_many_shipped_tools() -> None:
    assert sum(SHIPPED.values()) >= 150 and len(SHIPPED) >= 3


@pytest.mark.parametrize("name", SHIPPED)
def test_every_answer_fits_its_output_schema(name: str) -> None:
    validators = Validators()
    for tool in catalogue_tools(shipped(name), name):
        assert tool.output_schema is not None
        for seed in ("1", "2"):
            value = plausible_value(tool.output_schema, {"name": "web", "limit": 3, "text": 7}, seed)
            assert validators.problems(f"{name}/{tool.name}", tool.output_schema, value) == (), tool.name


SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"id": {"type": "string", "pattern": "^X-[0-9]+$"}}, "required": ["id"]},
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 7, "maximum": 8}}, "required": ["n"]},
    {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"enum": ["x"]}}, "minItems": 2},
    {"type": "object", "properties": {"k": {"const": 3}, "either": {"anyOf": [{"type": "null"}, {"type": "string"}]}}},
    {"type": ["null", "string"]},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=canonical)
def test_answers_of_odd_schemas_never_raise(schema: dict[str, Any]) -> None:
    first = plausible_value(schema, {"n": 1}, "1")
    assert json.loads(json.dumps(first)) == first == plausible_value(schema, {"n": 1}, "1")


def test_what_was_asked_for_stands_in_the_answer() -> None:
    schema = {"type": "object", "properties": {"namespace": {"type": "string"}, "replicas": {"type": "integer"}}}
    assert plausible_value(schema, {"namespace": "prod", "replicas": 3}, "1") == {"namespace": "prod", "replicas": 3}


@pytest.mark.parametrize(
    ("tool", "start"),
    [
        ("list_pods", "Found 3 pods for namespace prod"),
        ("get_pod", "pod (namespace prod)"),
        ("restart_pod", "Done: restart pod"),
    ],
)
def test_a_tool_without_a_schema_answers_in_prose(tool: str, start: str) -> None:
    assert plausible_text(tool, {"namespace": "prod"}, "1").startswith(start)


def test_the_same_call_has_the_same_answer_and_another_another() -> None:
    decoys = Decoys(catalogue_tools(shipped("kubernetes"), "kubernetes"), seed=5)
    tool = decoys.definition("kubernetes", "get_pod")
    assert tool is not None and decoys.definition("files", "get_pod") is None

    def answer(pod: str, which: Decoys = decoys) -> Any:
        return which.answered(CallRecord("c1", "agent", "kubernetes", "get_pod", {"pod": pod}), tool).structured

    assert answer("a") == answer("a") != answer("b")
    assert answer("a") != answer("a", Decoys([tool], seed=6))


def test_distractors_are_the_seeds_none_twice() -> None:
    lines = (KUBERNETES, LookAlikes(pattern("list_*"), 9), KUBERNETES)
    first = drawn(*lines)
    assert len(first) == len(set(first)) == 33
    assert first == drawn(*lines) != drawn(*lines, seed="2")


def test_look_alikes_of_several_tools_are_shared_out() -> None:
    found = drawn(LookAlikes(pattern("*"), 10))
    assert sum("director" in name for name in found) == 5


@pytest.mark.parametrize("count", [10, 100, 500])
def test_any_number_of_look_alikes_can_be_had(count: int) -> None:
    assert len(set(drawn(LookAlikes(pattern("list_directory"), count)))) == count


@pytest.mark.parametrize(
    "line", [LookAlikes(pattern("no_such_tool"), 3), CatalogueTools(Literal("kubernetes"), 47, True)]
)
def test_what_cannot_be_had_is_said(line: Distraction) -> None:
    with pytest.raises(NoSuchTools):
        drawn(line)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("list_directory", "list_archived_directory"),
        ("getIssue", "getArchivedIssue"),
        ("browser-click", "browser-archived-click"),
        ("issues/list", "issues/archived/list"),
        ("x", "x_archived"),
    ],
)
def test_a_look_alike_keeps_the_style_of_the_name(name: str, near: str) -> None:
    assert next(look_alikes(ToolDefinition("a", name))).name == near


def test_a_look_alike_has_the_arguments_and_says_that_it_does_something_else() -> None:
    first = next(look_alikes(LIST))
    assert first.description == (
        "Works on archived directories only; current directories are not looked at. "
        "Otherwise like list_directory: List the files of a directory."
    )
    assert first.input_schema["required"] == ["path"] and set(first.input_schema["properties"]) == {"path", "archive"}
    assert (first.server, first.output_schema, first.distractor) == ("files", LIST.output_schema, True)
    assert LIST.input_schema["properties"].keys() == {"path"}


def test_no_look_alike_is_a_real_tool() -> None:
    real = ToolDefinition("files", "list_archived_directory")
    assert "files.list_archived_directory" not in drawn(LookAlikes(pattern("list_directory"), 40), shown=(LIST, real))


def test_real_tools_stand_among_the_others_and_keep_their_order() -> None:
    added = distractors(
        (KUBERNETES, LookAlikes(pattern("list_directory"), 6)),
        (LIST, READ),
        "1",
        lambda line: catalogue_tools(shipped("kubernetes"), "kubernetes"),
        Scope({}),
    )
    places = [among((LIST, READ), added, str(seed)) for seed in range(8)]
    assert all(len(each) == 20 for each in places)
    assert all([tool for tool in each if not tool.distractor] == [LIST, READ] for each in places)
    assert len({each.index(LIST) for each in places}) > 3


CATALOGUES = {
    "tools": ({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}, ["own.a"]),
    "with its name": ({"name": "wiki", "tools": [{"name": "a", "inputSchema": {"type": "object"}}]}, ["wiki.a"]),
    "an answer of tools/list": ({"result": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}}, ["own.a"]),
    "a list": ([{"name": "a", "inputSchema": {"type": "object"}}], ["own.a"]),
    "a lock": (
        {"servers": [{"server": "b", "tools": [{"name": "a", "input_schema": {"type": "object"}}]}]},
        ["b.a"],
    ),
    "a server that is there": ({"name": "taken", "tools": [{"name": "a", "inputSchema": {}}]}, []),
    "a name that is taken": (
        {"name": "taken", "tools": [{"name": "a", "inputSchema": {"type": "object"}}]},
        ["taken_2.a"],
    ),
}


@pytest.mark.parametrize("case", CATALOGUES.values(), ids=CATALOGUES.keys())
def test_catalogues_of_every_form(case: tuple[Any, list[str]]) -> None:
    text, wanted = case
    found = catalogue_tools(json.dumps(text), "own", ["taken"])
    assert [f"{tool.server}.{tool.name}" for tool in found] == wanted


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"tools": []}', '{"tools": [7]}', '[{"name": "a"}]', "[" * 9999])
def test_what_is_no_catalogue(text: str) -> None:
    with pytest.raises(NoSuchTools):
        catalogue_tools(text, "own")


def test_five_hundred_tools_are_more_than_an_openai_like_provider_takes() -> None:
    tools = (LIST, *distractors((LookAlikes(pattern("*"), 500),), (LIST,), "1", lambda line: (), Scope({})))
    refused, taken = prepare_tools("openai", tools), prepare_tools("anthropic", tools)
    assert refused.error is not None and "501 tools, and this provider takes 128" in refused.error
    assert taken.error is None and len(taken.by_wire_name) == 501
    assert any("501 tools: more than 128 are refused by OpenAI" in finding for finding in taken.findings)


def test_a_name_that_two_servers_have_is_qualified_as_a_host_would() -> None:
    text = json.dumps({"name": "archive", "tools": [{"name": "list_directory", "inputSchema": {"type": "object"}}]})
    prepared = prepare_tools("anthropic", (LIST, *catalogue_tools(text, "own")))
    assert sorted(prepared.by_wire_name) == ["archive__list_directory", "files__list_directory"]
    assert any("list_directory: offered by files and archive" in finding for finding in prepared.findings)
