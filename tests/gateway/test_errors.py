"""Error classes and kinds from what was on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.errors import classify, kind_of
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.gateway.schemas import Validators
from mcpeval_dsl.gateway.wire import WireResult
from tests.gateway.starting import one_call


def text(words: str, **more: Any) -> WireResult:
    return WireResult("result", result={"content": [{"type": "text", "text": words}], **more})


def shown(wire: WireResult, tool: ToolDefinition | None = None) -> tuple[str, str, int | None] | None:
    error = classify(wire, tool, Validators())
    return None if error is None else (error.error_class, error.kind, error.code)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("good", None),
        ("tool_error", ("tool_error", "not_found", None)),
        ("error_in_success", ("error_in_success", "not_found", None)),
        ("rpc_error", ("protocol_error", "not_found", -32602)),
        ("rpc_in_text", ("tool_error", "not_found", -32602)),
        ("content_string", ("invalid_result", "unknown", None)),
        ("deep", ("invalid_result", "unknown", None)),
        ("die", ("transport_error", "crash", 7)),
        ("closed_stdout", ("transport_error", "closed", None)),
    ],
)
def test_what_servers_do_has_one_class_each(mode: str, expected: tuple[str, str, int | None] | None) -> None:
    assert shown(one_call(mode)) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Error: no such table: issues",
        "Database error: no such column: x",
        "MCP error -32602: Tool nope not found",
        "ValueError: bad date",
        'Traceback (most recent call last):\n  File "x"',
        '{"success": false, "reason": "locked"}',
        '{"error": "not found"}',
        '{"error": {"code": 3}, "message": "no"}',
        '{"status": "error", "message": "no such request"}',
        '{"status": "issue_not_found", "message": "nothing here"}',
        "Encountered a network error: connection refused",
        "Part 2 of 3\n<error>There is no more.</error>",
    ],
)
def test_an_error_told_as_success_is_noticed(words: str) -> None:
    found = shown(text(words))
    assert found is not None
    assert found[0] == "error_in_success"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "0 errors: all is well",
        "The issue is titled 'Error: cannot log in'",
        '{"error": null, "rows": []}',
        '{"error": "timeout", "rows": [1, 2]}',
        '{"success": true}',
        '{"issues": [{"error": "x"}]}',
        "{not json",
        '{"status": "failed", "message": "build 7 failed in step 2"}',
        '{"status": "error", "job": 7, "step": "link"}',
        '{"status": "ok", "message": "0 errors"}',
        "Received 3 error reports: two from Ada, one from Bo",
        "The page says <error>no</error> in its second line",
        "Error: " + "a long log " * 400,
    ],
)
def test_talk_about_errors_is_not_one(words: str) -> None:
    assert shown(text(words)) is None


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Issue 7 not found", "not_found"),
        ("there is no issue 7", "not_found"),
        ("Unknown tool: nope", "not_found"),
        ("Invalid arguments: 'title' is required", "validation"),
        ("1 validation error for add", "validation"),
        ("A label with that name already exists", "conflict"),
        ("429 Too Many Requests", "rate"),
        ("The token has expired", "expired"),
        ("permission denied for repository", "denied"),
        ("Internal server error", "internal"),
        ("Error executing tool boom", "internal"),
        ("cannot merge: the branch is behind", "business"),
        ("No zone found with key Mars", "not_found"),
        ("the name main could not be resolved", "not_found"),
        ("cannot close: the parent is not resolved", "business"),
        ("only admins are allowed to do that", "denied"),
        ("Unknown unit: parsec", "validation"),
        ("Error executing tool calculate: division by zero", "validation"),
        ("hm", "unknown"),
    ],
)
def test_kinds_by_words(words: str, kind: str) -> None:
    assert kind_of(words) == kind


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({}, "neither content nor structuredContent"),
        ({"content": "x"}, "content is a text, not a list"),
        ({"content": ["x"]}, "content block 1: a text, not an object"),
        ({"content": [{"type": "hologram"}]}, "content block 1: unknown type 'hologram'"),
        ({"content": [{"type": "text"}]}, "content block 1: text is missing"),
        ({"content": [{"type": "image", "data": 3}]}, "content block 1: data is a number"),
        ({"content": [], "isError": "no"}, 'isError is "no"'),
    ],
)
def test_a_result_of_wrong_shape_says_what_is_wrong(result: dict[str, Any], words: str) -> None:
    error = classify(WireResult("result", result=result))
    assert error is not None
    assert error.error_class == "invalid_result"
    assert words in error.message


@pytest.mark.parametrize(
    ("structured", "expected"),
    [
        ({"structuredContent": {"n": 1}}, None),
        ({"structuredContent": {"n": "many"}}, "/n: 'many' is not of type 'integer'"),
        ({}, "gave no structuredContent"),
    ],
)
def test_structured_content_is_held_against_the_output_schema(structured: dict[str, Any], expected: str | None) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    error = classify(text("x", **structured), ToolDefinition("s", "t", output_schema=schema, sha256="1"), Validators())
    assert (None if error is None else error.message) == expected or (error and expected and expected in error.message)


def test_an_error_result_is_not_held_against_the_output_schema() -> None:
    tool = ToolDefinition("s", "t", output_schema={"type": "object"}, sha256="1")
    assert shown(text("no such thing", isError=True), tool) == ("tool_error", "not_found", None)
