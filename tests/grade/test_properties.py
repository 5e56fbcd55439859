"""Normalisation, dates and sets over inputs nobody thought of."""

from __future__ import annotations

import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.grade.dates import date_of
from mcpeval_dsl.grade.differences import first_difference
from mcpeval_dsl.grade.facts import Told, facts_of
from mcpeval_dsl.grade.items import items_of
from mcpeval_dsl.grade.judgement import read_judgement
from mcpeval_dsl.grade.mentions import contains
from mcpeval_dsl.grade.normalise import same, text, whole_number
from mcpeval_dsl.grade.set_of import compared, f1
from mcpeval_dsl.semantics.graders import Normalisation
from mcpeval_dsl.values.compare import equal
from tests.values.test_compare import JSON

IGNORED = st.lists(st.sampled_from(["case", "whitespace", "punctuation", "commas"]), unique=True).map(tuple)


@given(st.text(), IGNORED)
def test_ignoring_twice_is_ignoring_once(value: str, ignored: tuple[str, ...]) -> None:
    once = text(value, ignored)
    assert text(once, ignored) == once


@given(JSON, IGNORED, st.booleans())
def test_every_answer_equals_itself(value: Any, ignored: tuple[str, ...], unordered: bool) -> None:
    assert same(value, value, Normalisation(ignore=ignored, unordered=unordered))


@given(st.dates(min_value=datetime.date(1000, 1, 1)))
def test_a_date_is_read_in_every_form(day: datetime.date) -> None:
    for written in (
        day.isoformat(),
        f"{day.year:04}/{day.month}/{day.day}",
        f"{day.day}.{day.month}.{day.year:04}",
        f"{day.day} {day:%B} {day.year:04}",
        f"{day:%B} {day.day}, {day.year:04}",
        f"on {day:%b} {day.day}, {day.year:04}, at noon",
    ):
        assert date_of(written) == day


@given(st.dates(min_value=datetime.date(1000, 1, 1)))
def test_a_format_is_read_as_it_says(day: datetime.date) -> None:
    assert date_of(f"{day.day:02}/{day.month:02}/{day.year:04}", "DD/MM/YYYY") == day
    assert date_of(f"{day.month:02}/{day.day:02}/{day.year:04}", "MM/DD/YYYY") == day


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_a_number_is_read_with_and_without_marks(whole: int, cents: int) -> None:
    value = float(f"{whole}.{cents:02}")
    assert whole_number(f"{whole:,}.{cents:02}") == value
    assert whole_number(f"{whole}.{cents:02} EUR") == value


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_number_is_in_no_other(left: int, right: int) -> None:
    assert contains(f"id {left}.", str(right)) == (left == right)


@given(st.lists(st.text("abc ", min_size=1, max_size=4).filter(str.strip), max_size=6))
def test_a_set_equals_itself_in_any_order(items: list[str]) -> None:
    assert compared(items[::-1], items, Normalisation()) == ([], [])


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_f1_is_a_share(right: int, extra: int, found: int, lacking: int) -> None:
    assert 0 <= f1(right, extra, found, lacking) <= 1


@given(JSON, JSON)
def test_values_differ_somewhere_exactly_when_they_are_not_equal(left: Any, right: Any) -> None:
    assert (first_difference(left, right) is None) == equal(left, right)
    assert first_difference(left, left) is None


@given(st.text())
def test_reading_an_answer_never_fails(answer: str) -> None:
    items_of(answer)
    told = Told([answer])
    for fact in facts_of(answer):
        told.has(fact)
    read_judgement(answer, 2, answer)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=40))
def test_a_fact_of_a_text_was_told_by_that_text(answer: str) -> None:
    told = Told([answer])
    assert all(told.has(fact) for fact in facts_of(answer))
