"""Signature help: the call, and which of its arguments is typed."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.signature_help import signature_help
from tests.language_server.features.marked import marked, plain

SERVER = 'server tracker { stdio "x" }\n'
ISSUES = "list_issues(project: string, [status: any], [sort: any], [filter: object], [mine: boolean])"
CASES = [
    ("harvest x = tracker.list_issues(⟦⟧)", ISSUES, None),
    ('harvest x = tracker.list_issues(project: "a⟦⟧")', ISSUES, "project: string"),
    ('task t { expect list_issues(project: "a", status: ⟦⟧', ISSUES, "[status: any]"),
    ("task t { expect any(list_issues(sort: ⟦⟧))", ISSUES, "[sort: any]"),
    ("task t { expect any(⟦⟧)", "any(pattern, …)", "pattern, …"),
    ("task t { expect at_least(⟦⟧)", "at_least(count, pattern, …)", "count"),
    ("task t { expect at_least(2, ⟦⟧)", "at_least(count, pattern, …)", "pattern, …"),
    ("task t { grade exact join(x, ⟦⟧) }", "join(list, [separator])", "[separator]"),
    ('harvest x = sql("select 1", on: ⟦⟧)', "sql(query, [on: text])", "[on: text]"),
]


@pytest.mark.parametrize(("text", "label", "active"), CASES)
def test_the_call_around_a_cursor(text: str, label: str, active: str | None) -> None:
    snapshot, offset, _ = marked(SERVER + text)
    found = signature_help(snapshot, offset)
    assert found is not None
    assert found.label == label
    shown = [found.label[p.start : p.end] for p in found.parameters]
    assert active == (None if found.active is None else shown[found.active])


@pytest.mark.parametrize(
    "text", ["task t { ⟦⟧ }", "task t { expect vanish(⟦⟧) }", "# list_issues(⟦⟧", 'let x = "f(⟦⟧)"']
)
def test_none_outside_known_calls(text: str) -> None:
    snapshot, offset, _ = marked(SERVER + text)
    assert signature_help(snapshot, offset) is None


def test_what_the_server_says_is_fenced() -> None:
    snapshot = plain(f"{SERVER}task t {{ expect list_issues() }}")
    found = signature_help(snapshot, snapshot.text.index("()") + 1)
    assert found is not None
    assert found.text.startswith("````text\n")
