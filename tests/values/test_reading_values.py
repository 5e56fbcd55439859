"""Templates, `$`, numbers as people write them, functions and regular expressions, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.semantics.directives.functions import TEMPLATE_FUNCTIONS
from mcpeval_dsl.values import jsonpath
from mcpeval_dsl.values.functions import FUNCTIONS, apply
from mcpeval_dsl.values.model import EvaluationError, NothingThere, Reading, Scope
from mcpeval_dsl.values.regex import capture, captures, found
from mcpeval_dsl.values.spelling import Marks, marks_of, numbers_in, read_number
from mcpeval_dsl.values.subject import subject_of, value_of
from mcpeval_dsl.values.templates import render, value
from tests.values.shorthand import cases, name_of

NAMES: dict[str, Any] = {
    "billing": {"key": "BILL-1", "labels": ["bug", "urgent"], "first": {"title": "Late"}},
    "n": 3,
    "price": 1234.5,
    "whole": 2.0,
    "none": None,
    "yes": True,
    "facts": ["p", "q"],
    "today": "2026-11-30",
    "dash-name": "dashed",
    "quoted": "{{ billing.key }}",
    "items": {"items": 4},
}


@pytest.mark.parametrize("case", cases("templates", __file__), ids=lambda case: case["text"])
def test_template(case: dict[str, Any]) -> None:
    if "fails" in case:
        with pytest.raises(EvaluationError) as caught:
            render(case["text"], Scope(NAMES))
        assert case["fails"] in caught.value.reason
    else:
        assert render(case["text"], Scope(NAMES)) == case["gives"]


def test_a_rendered_text_is_capped() -> None:
    with pytest.raises(EvaluationError, match="at most 1048576"):
        render("{{ big }}{{ big }}", Scope({"big": "x" * 600_000}))


def test_a_template_as_a_value_keeps_its_type() -> None:
    assert value("billing.labels", Scope(NAMES)) == ["bug", "urgent"]
    assert value("billing.labels | count", Scope(NAMES)) == 2


@pytest.mark.parametrize("case", cases("subject", __file__), ids=name_of)
def test_subject(case: dict[str, Any]) -> None:
    reading = Reading(
        text=case.get("text", ""),
        structured=case.get("structured"),
        has_structured="structured" in case,
        error=case.get("error"),
    )
    if "fails" in case:
        with pytest.raises(EvaluationError) as caught:
            subject_of(reading, case.get("read"))
        assert case["fails"] in caught.value.reason
    else:
        assert subject_of(reading, case.get("read")) == case["value"]


def test_one_row_with_one_column_is_the_value_itself_but_rows_to_a_path() -> None:
    reading = Reading(structured=[{"n": 120}], has_structured=True, fields={"single": True})
    assert value_of(reading) == 120
    assert subject_of(reading) == [{"n": 120}]


@pytest.mark.parametrize("case", cases("spelling", __file__), ids=lambda case: case[0])
def test_numbers_in_a_text(case: list[Any]) -> None:
    assert numbers_in(case[0]) == case[1]


@pytest.mark.parametrize(
    ("format", "text", "number"),
    [
        ("€ 1.234,56", "1.234", 1234),
        ("€ 1.234,56", "12,5", 12.5),
        ("1,234.56", "1,5", 15),
        ("1 234,56", "12 345,5", 12345.5),
        ("0.00", "1.234", 1.234),
        ("1,234", "1,234", 1234),
    ],
)
def test_a_format_says_which_mark_is_which(format: str, text: str, number: float) -> None:
    assert read_number(text, marks_of(format)) == number


def test_a_format_without_a_number_has_no_marks() -> None:
    assert marks_of("euros") is None
    assert marks_of("12") == Marks("", "")


def test_functions_are_those_of_the_table() -> None:
    assert set(FUNCTIONS) == TEMPLATE_FUNCTIONS


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("first", [["a", "b"]], "a"),
        ("last", [["a", "b"]], "b"),
        ("count", [{"a": 1}], 1),
        ("count", ["abc"], 3),
        ("number", ["EUR 1,234.50"], 1234.5),
        ("number", ["12"], 12),
        ("sum", [[1, "2", 0.5]], 3.5),
        ("min", [["b", "a"]], "a"),
        ("max", [[3, 10]], 10),
        ("unique", [["a", "b", "a"]], ["a", "b"]),
        ("sorted", [[10, 9, "b", "a"]], [9, 10, "a", "b"]),
        ("concat", [["a"], ["b"]], ["a", "b"]),
        ("keys", [{"b": 1, "a": 2}], ["b", "a"]),
        ("join", [["a", 1]], "a, 1"),
        ("lines", ["a\nb\n\n"], ["a", "b"]),
        ("upper", ["a"], "A"),
        ("trim", [" a "], "a"),
        ("json", ['{"a": 1}'], {"a": 1}),
        ("text", [1.0], "1"),
        ("plus_days", ["2026-02-27", 2], "2026-03-01"),
        ("minus_days", ["2026-03-01T10:00:00Z", 1], "2026-02-28T10:00:00Z"),
    ],
)
def test_function(name: str, arguments: list[Any], result: Any) -> None:
    assert apply(name, arguments) == result


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("frist", [[]], "there is no function `frist`"),
        ("first", ["abc"], "`first` needs a list"),
        ("number", ["none"], "there is no number in"),
        ("sum", [["x"]], "`sum` needs a list of numbers"),
        ("plus_days", ["tomorrow", 1], "days are added to a date"),
        ("plus_days", ["2026-02-30", 1], "cannot be moved"),
        ("upper", [], "does not take 0 argument"),
        ("json", ["{"], "the text is no JSON"),
    ],
)
def test_a_function_says_what_does_not_fit(name: str, arguments: list[Any], reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(name, arguments)
    assert reason in caught.value.reason


def test_an_empty_list_has_no_first() -> None:
    with pytest.raises(NothingThere):
        apply("first", [[]])


def test_paths_are_values_when_singular_and_lists_otherwise() -> None:
    data = {"issues": [{"key": "A", "n": 1}, {"key": "B", "n": 2}]}
    assert jsonpath.select("$.issues[0].key", data) == "A"
    assert jsonpath.select("$.issues[*].key", data) == ["A", "B"]
    assert jsonpath.select("$.issues[?@.n > 9].key", data) == []
    assert jsonpath.select("$.issues[-1].key", data) == "B"
    with pytest.raises(NothingThere, match="nothing at"):
        jsonpath.select("$.issues[5].key", data)
    with pytest.raises(EvaluationError, match="is no JSONPath"):
        jsonpath.select("$.issues[", data)


def test_a_filter_literal_is_put_in_as_json() -> None:
    names = {"who": 'O\'Hara "Z"'}
    path = jsonpath.rendered("$[?@.name == {{ who }}].id", lambda text: names[text])
    assert jsonpath.select(path, [{"name": 'O\'Hara "Z"', "id": 7}]) == [7]


def test_regular_expressions_and_their_flags() -> None:
    assert found("^on branch", "im", "x\nOn branch master")
    assert found("a.c", "s", "a\nc") and not found("a.c", "", "a\nc")
    assert found("a b  # two letters\n c", "x", "abc")
    assert capture(r"Total:\s*([\d.,]+)", "", "Total: 12,50") == "12,50"
    assert capture(r"\d+", "", "a 12") == "12"
    assert capture("x", "", "a") is None
    assert captures(r"^(\w+) (\d+)$", "m", "a 1\nb 2") == [{"1": "a", "2": "1"}, {"1": "b", "2": "2"}]
    assert captures(r"\w", "", "ab") == ["a", "b"]


def test_a_pattern_that_re2_does_not_know_is_an_error_value() -> None:
    with pytest.raises(EvaluationError, match="cannot be used"):
        found(r"(?=a)", "", "a")
    with pytest.raises(EvaluationError, match="no flag"):
        found("a", "g", "a")


def test_a_pattern_that_hangs_other_engines_is_linear() -> None:
    assert not found("(a+)+$", "", "a" * 50_000 + "b")


def test_half_a_character_is_no_trouble() -> None:
    assert found("a.b", "", "a\ud800b")
    assert capture("(.)$", "", "x\ud800") == "?"
    with pytest.raises(EvaluationError, match="cannot be used"):
        found("\ud800", "", "x")
