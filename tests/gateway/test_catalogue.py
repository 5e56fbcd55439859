"""Tools as listed: lenient reading, digests that ignore order, and drift."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.catalogue import catalogue_digest, digest, read_tools, tools_drift

GOOD: dict[str, Any] = {"name": "get", "description": "Gets.", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("entry", "finding"),
    [
        ("nothing", "entry 1 of the list is no object"),
        ({"inputSchema": {"type": "object"}}, "entry 1 of the list has no name"),
        ({"name": "x"}, "inputSchema is missing"),
        ({"name": "x", "inputSchema": []}, "inputSchema is no object"),
        ({"name": "x", "inputSchema": {}}, 'inputSchema is empty: it does not even say "type": "object"'),
        ({"name": "x", "inputSchema": {"type": "array"}}, 'inputSchema says "type": "array", not "object"'),
        (
            {"name": "x", "inputSchema": {"type": "object", "properties": 7}},
            "inputSchema is no valid JSON Schema: /properties: 7 is not of type 'object'",
        ),
        (
            {"name": "x", "inputSchema": {"type": "object", "properties": {"a": {"required": True}}}},
            "inputSchema is no valid JSON Schema: /properties/a/required: True is not of type 'array'",
        ),
    ],
)
def test_a_broken_entry_is_unusable_and_says_why(entry: Any, finding: str) -> None:
    broken, good = read_tools("s", [entry, GOOD])
    assert (broken.usable, broken.finding) == (False, finding)
    assert (good.usable, good.finding) == (True, None)


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        ({"inputSchema": {"anyOf": [{"type": "object"}]}}, 'inputSchema does not say "type": "object"'),
        ({"inputSchema": {"type": "object", "properties": {"a": {"pattern": r"\\p{L}(?<n>x"}}}}, None),
        ({"annotations": {"destructiveHint": "sometimes"}}, 'destructiveHint is "sometimes", not true or false'),
        ({"outputSchema": 3}, "outputSchema is no object"),
    ],
)
def test_an_odd_entry_stays_usable_with_a_finding(more: dict[str, Any], finding: str) -> None:
    (tool,) = read_tools("s", [GOOD | more])
    assert (tool.usable, tool.finding) == (True, finding)


def test_a_name_listed_twice_is_usable_once() -> None:
    assert [tool.usable for tool in read_tools("s", [GOOD, GOOD])] == [True, False]


def test_the_digest_ignores_order_of_tools_and_keys_and_vendor_fields() -> None:
    other = {**GOOD, "name": "put", "_meta": {"noise": 1}}
    one = read_tools("s", [GOOD, other])
    two = read_tools("s", [{key: other[key] for key in reversed(other) if key != "_meta"}, GOOD])
    assert catalogue_digest(one, "Hi") == catalogue_digest(two, "Hi")
    assert catalogue_digest(one, "Hi") != catalogue_digest(one, None)


@pytest.mark.parametrize(
    ("left", "right"), [({"a": 1.0}, {"a": 1}), ([1, 2], (1, 2)), ({"b": 1, "a": 2}, {"a": 2, "b": 1})]
)
def test_equal_values_have_equal_digests(left: Any, right: Any) -> None:
    assert digest(left) == digest(right)


@pytest.mark.parametrize(("left", "right"), [(True, 1), (None, "null"), ({"a": [1, 2]}, {"a": [2, 1]})])
def test_different_values_have_different_digests(left: Any, right: Any) -> None:
    assert digest(left) != digest(right)


@pytest.mark.parametrize(
    ("now", "kinds"),
    [
        ([GOOD], None),
        ([GOOD, GOOD | {"name": "put"}], ("tools",)),
        ([], ("tools",)),
        ([GOOD | {"description": "Gets and sends."}], ("descriptions",)),
        ([GOOD | {"inputSchema": {"type": "object", "required": ["a"]}}], ("schemas",)),
        ([GOOD | {"annotations": {"readOnlyHint": True}}], ("schemas",)),
        ([GOOD | {"description": "", "outputSchema": {"type": "object"}}], ("descriptions", "schemas")),
    ],
)
def test_drift_is_told_by_kind(now: list[dict[str, Any]], kinds: tuple[str, ...] | None) -> None:
    drift = tools_drift(read_tools("s", [GOOD]), read_tools("s", now))
    assert (None if drift is None else drift.kinds) == kinds
