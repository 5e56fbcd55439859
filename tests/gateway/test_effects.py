"""Who says what a call does, and who is believed."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.effects import destructive_by_name, effect_of
from mcpeval_dsl.values.model import Scope
from tests.gateway.calls import catalogue, defined, pattern

DUCK = catalogue(
    ("readonly", pattern("list_*")),
    ("readonly", pattern("execute_query", sql=r"/^\s*(select|show)\b/")),
    ("destructive:critical", pattern("execute_query", sql=r"/\b(drop|truncate)\b/")),
    ("additive", pattern("execute_query")),
    ("idempotent", pattern("list_*")),
    ("destructive", pattern("list_secrets")),
)


@pytest.mark.parametrize(
    ("tool", "arguments", "effect"),
    [
        ("list_tables", {}, "readonly"),
        ("list_secrets", {}, "destructive"),
        ("execute_query", {"sql": "SELECT 1"}, "readonly"),
        ("execute_query", {"sql": "insert into t values (1)"}, "additive"),
        ("execute_query", {"sql": "DROP TABLE t"}, "destructive"),
        ("execute_query", {"sql": "select 1; drop table t"}, "destructive"),
        ("execute_query", {}, "additive"),
        ("something_else", {}, "unknown"),
    ],
)
def test_the_spec_speaks_over_call_patterns(tool: str, arguments: dict[str, Any], effect: str) -> None:
    assert effect_of("duck", tool, arguments, None, DUCK, Scope({})).effect == effect


@pytest.mark.parametrize(
    ("hints", "trusted", "expected"),
    [
        ({"readOnlyHint": True}, True, ("readonly", "hint")),
        ({"readOnlyHint": True}, False, ("unknown", "none")),
        ({"destructiveHint": True}, False, ("destructive", "hint")),
        ({"destructiveHint": False}, True, ("additive", "hint")),
        ({"destructiveHint": False}, False, ("unknown", "none")),
        ({"readOnlyHint": True, "destructiveHint": True}, True, ("readonly", "hint")),
        ({}, True, ("unknown", "none")),
    ],
)
def test_hints_count_for_a_tool_only_where_they_are_believed(
    hints: dict[str, bool], trusted: bool, expected: tuple[str, str]
) -> None:
    found = effect_of("s", "do_it", {}, defined("do_it", **hints), None, Scope({}), trust_hints=trusted)
    assert (found.effect, found.source) == expected


def test_the_spec_goes_before_hints() -> None:
    said = catalogue(("readonly", pattern("do_it")))
    assert effect_of("s", "do_it", {}, defined("do_it", destructiveHint=True), said, Scope({})).effect == "readonly"


@pytest.mark.parametrize(
    ("tool", "destructive"),
    [
        ("delete_issue", True),
        ("wipe_all", True),
        ("issues.delete", True),
        ("dropTable", True),
        ("repo_purge_cache", True),
        ("list_deleted", False),
        ("get_delete_log", False),
        ("dropdown_open", False),
        ("remove_label", False),
        ("create_issue", False),
        ("", False),
    ],
)
def test_names_that_say_what_they_do(tool: str, destructive: bool) -> None:
    assert destructive_by_name(tool) is destructive


def test_a_pattern_whose_values_are_unknown_counts_against_the_call() -> None:
    said = catalogue(("readonly", pattern("write", key="$missing")), ("additive", pattern("write")))
    assert effect_of("s", "write", {"key": "A"}, None, said, Scope({})).effect == "additive"
    said = catalogue(("destructive", pattern("write", key="$missing")), ("additive", pattern("write")))
    assert effect_of("s", "write", {"key": "A"}, None, said, Scope({})).effect == "destructive"
