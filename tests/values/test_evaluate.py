"""Expressions, conditions and the keys of sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.semantics.graders import AnyOf, Common, State, Unchanged
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, NothingThere, Reading, ReadingFailed, Scope
from mcpeval_dsl.values.sources import source_key, sources_in, sources_of
from mcpeval_dsl.values.subject import with_subject
from tests.values.shorthand import condition as shorthand_condition
from tests.values.shorthand import expression

NAMES: dict[str, Any] = {"billing": {"key": "BILL-1"}, "log": {"shas": ["a", "b"]}, "db": "/w/x.db", "rows": [[1, 2]]}
QUERY = {"sql": "select 1", "on": {"ref": "db"}}
COMMAND = {"command": ["git", "diff", "--quiet"]}
GET = {"tool": "tracker.get_issue", "arguments": {"key": {"ref": "billing.key"}}}


def scope(**readings: Reading) -> Scope:
    bare = Scope(NAMES)
    named = {"sql": QUERY, "command": COMMAND, "get": GET}
    return replace(bare, readings={source_key(expression(named[n]), bare): r for n, r in readings.items()})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "result"),
    [
        (3, 3),
        ({"ref": ["log", "shas", -1]}, "b"),
        ({"ref": ["rows", 0, 1]}, 2),
        ({"template": "issue {{ billing.key }}"}, "issue BILL-1"),
        ([{"ref": "billing.key"}, None], ["BILL-1", None]),
        ({"a": {"b": {"ref": "billing.key"}}}, {"a": {"b": "BILL-1"}}),
        ({"apply": "first", "to": [{"ref": "log.shas"}]}, "a"),
        ({"field": 1, "of": {"ref": "log.shas"}}, "b"),
        ({"path": "$[0]", "of": {"ref": "log.shas"}}, "a"),
        ({"capture": "-(\\d+)", "of": {"ref": "billing.key"}}, "1"),
        ({"apply": "number", "to": [{"capture": "-(\\d+)", "of": {"ref": "billing.key"}}]}, 1),
    ],
)
def test_value(written: Any, result: Any) -> None:
    assert evaluate(expression(written), Scope(NAMES)) == result


def test_an_sql_cell_is_a_value_and_rows_to_a_path() -> None:
    one = Reading(structured=[{"n": 120}], has_structured=True, fields={"single": True})
    assert evaluate(expression(QUERY), scope(sql=one)) == 120
    assert evaluate(expression({"path": "$[0].n", "of": QUERY}), scope(sql=one)) == 120


def test_parts_of_a_command_are_fields() -> None:
    ran = Reading(text="out", fields={"exit": 1, "stdout": "out\n", "stderr": "no"})
    here = scope(command=ran)
    assert evaluate(expression(COMMAND), here) == "out"
    assert evaluate(expression({"field": "exit", "of": COMMAND}), here) == 1
    assert evaluate(expression({"field": "stderr", "of": COMMAND}), here) == "no"


def test_captures_of_a_result_read_its_text() -> None:
    reading = Reading(text="Commit: 'abc'", structured={"result": "Commit: 'abc'"}, has_structured=True)
    here = with_subject(Scope(NAMES), reading)
    assert evaluate(expression({"capture": "Commit: '(\\w+)'"}), here) == "abc"
    data = with_subject(Scope(NAMES), Reading(text='{"total": "12,50"}'))
    assert evaluate(expression({"capture": 'total": "([\\d,]+)'}), data) == "12,50"
    assert evaluate(expression({"path": "$.total"}), data) == "12,50"


def test_what_finds_nothing_says_where() -> None:
    with pytest.raises(NothingThere, match=r"nothing at `\$.x`"):
        evaluate(expression({"path": "$.x"}), Scope({}, subject={}, has_subject=True))
    with pytest.raises(NothingThere, match="matches nothing"):
        evaluate(expression({"capture": "x", "of": "abc"}), Scope({}))
    with pytest.raises(EvaluationError, match=r"`\$` stands for nothing here"):
        evaluate(expression({"path": "$"}), Scope({}))


def test_a_source_that_was_not_read_or_failed_is_told_apart() -> None:
    with pytest.raises(ReadingFailed) as never:
        evaluate(expression(GET), Scope(NAMES))
    assert never.value.reading is None
    failed = Reading(error="not found", error_class="tool_error")
    with pytest.raises(ReadingFailed) as refused:
        evaluate(expression({"path": "$.x", "of": GET}), scope(get=failed))
    assert refused.value.reading == failed


@pytest.mark.parametrize(
    ("parts", "holds", "actual", "expected"),
    [
        ([{"path": "$.n", "of": GET}, "==", 3], True, "3", "== 3"),
        ([{"path": "$.labels", "of": GET}, "has", "bug"], True, '["bug"]', 'has "bug"'),
        ([{"path": "$.gone", "of": GET}, "==", 3], False, "nothing at `$.gone`", "== 3"),
        ([{"path": "$.gone", "of": GET}, "!=", 3], False, "nothing at `$.gone`", "!= 3"),
        ([{"path": "$.gone", "of": GET}, "==", {"apply": "absent"}], True, "nothing at `$.gone`", "== absent()"),
        ([{"path": "$.n", "of": GET}, "==", 3.1, {"percent": 5}], True, "3", "== 3.1 within 5%"),
        ([{"path": "$.n", "of": GET}, "==", 3.1, 0.05], False, "3", "== 3.1 within 0.05"),
        ([{"path": "$.n", "of": GET}, "==", 3.1, "5%"], True, "3", "== 3.1 within 5%"),
        ([GET, "~", {"regex": "BUG", "flags": "i"}], True, '{"n": 3, "labels": ["bug"]}', "~ /BUG/i"),
    ],
)
def test_condition(parts: list[Any], holds: bool, actual: str, expected: str) -> None:
    here = scope(get=Reading(structured={"n": 3, "labels": ["bug"]}, has_structured=True))
    result = condition(shorthand_condition(parts), here)
    assert (result.holds, result.actual, result.expected) == (holds, actual, expected)


def test_a_secret_is_read_from_the_scope_and_never_in_a_key() -> None:
    assert evaluate(expression({"secret": "T"}), Scope({}, secrets={"T": "x"})) == "x"
    with pytest.raises(EvaluationError, match="the secret T is not set"):
        evaluate(expression({"secret": "T"}), Scope({}))
    source: Any = expression({"command": ["login", {"secret": "T"}]})
    assert source_key(source, Scope({}, secrets={"T": "x"})) == source_key(source, Scope({}, secrets={"T": "y"}))


def test_a_key_follows_values_and_not_places() -> None:
    get: Any = expression(GET)
    here = Scope(NAMES)
    assert source_key(get, here) == source_key(replace(get, at=Location("x", 9, 9, 9, 9)), here)
    assert source_key(get, here) != source_key(get, Scope({**NAMES, "billing": {"key": "BILL-2"}}))
    assert source_key(get, here) != source_key(replace(get, session="same"), here)


def test_sources_are_found_inside_expressions_and_graders() -> None:
    inside = expression({"apply": "count", "to": [{"path": "$.x", "of": GET}]})
    assert sources_in(inside) == (expression(GET),)
    state = State(Common("g1"), shorthand_condition([{"path": "$.x", "of": GET}, "==", QUERY]))
    kept = Unchanged(Common("g2.1"), expression({"files": "/w"}))  # type: ignore[arg-type]
    assert sources_of(state) == (expression(GET), expression(QUERY))
    assert sources_of(AnyOf(Common("g2"), (kept, state))) == (
        expression({"files": "/w"}),
        expression(GET),
        expression(QUERY),
    )
