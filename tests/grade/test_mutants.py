"""Answers that graders ask for, and those answers made wrong in one place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.grade.mutants import MOST, mutants
from mcpeval_dsl.grade.solutions import Part, Solution, Unsolved, reads_answers, solution
from mcpeval_dsl.semantics.expressions import Condition, ListOf, Literal, Ref, Select
from mcpeval_dsl.semantics.graders import (
    AnyOf,
    Common,
    Contains,
    Exact,
    Grader,
    Json,
    Normalisation,
    Number,
    OneOf,
    Regex,
    SetOf,
    Unchanged,
)
from mcpeval_dsl.values.model import Scope

SCOPE = Scope({"name": "Ada Lovelace"})
COMMON = Common("g1")


def values(*items: Any) -> ListOf:
    return ListOf(tuple(Literal(item) for item in items))


def member(path: str, value: Any, operator: Any = "==") -> Json:
    return Json(COMMON, Condition(Select(path), operator, Literal(value)))


SOLVED: list[tuple[list[Grader], str]] = [
    ([Exact(COMMON, Ref(("name",)))], "Ada Lovelace"),
    ([OneOf(COMMON, values("a", "b"))], "a"),
    ([Contains(COMMON, (Literal("x"), Literal(3)))], "x; 3"),
    ([Contains(COMMON, (values("x", "y"),))], "x; y"),
    ([Contains(COMMON, (Literal("x"),)), Exact(COMMON, Literal("x y"))], "x y"),
    ([Number(COMMON, Literal(12))], "12"),
    ([Number(COMMON, Literal("12"))], "12"),
    ([SetOf(COMMON, values("a", "b"))], '["a", "b"]'),
    ([Regex(COMMON, "done|finished")], "done"),
    ([Regex(COMMON, "^x+$"), Contains(COMMON, (Literal("xx"),))], "xx"),
    ([Contains(COMMON, (Literal("no"),), negated=True)], "Done."),
    ([member("$.a", 1), member("$.b.c", "x")], '{"a": 1, "b": {"c": "x"}}'),
    ([AnyOf(COMMON, (Regex(COMMON, "^x+$"), Exact(COMMON, Literal("y"))))], "y"),
    ([Exact(Common("g1", weight=0.0), Literal("x")), Number(COMMON, Literal(1))], "1"),
]


@pytest.mark.parametrize(("graders", "answer"), SOLVED)
def test_the_answer_that_graders_ask_for(graders: list[Grader], answer: str) -> None:
    assert solution(graders, SCOPE).answer().text == answer


@pytest.mark.parametrize(
    "grader",
    [
        Regex(COMMON, "^x+$"),
        member("$.a", 1, ">"),
        OneOf(COMMON, ListOf(())),
        Number(COMMON, Literal("none")),
        Exact(COMMON, Ref(("gone",))),
        AnyOf(COMMON, (Regex(COMMON, "^x+$"),)),
    ],
)
def test_what_says_no_answer_says_why(grader: Grader) -> None:
    with pytest.raises(Unsolved) as caught:
        solution([grader], SCOPE)
    assert caught.value.reason


def test_which_graders_read_the_answer_alone() -> None:
    exact, state = Exact(COMMON, Literal("x")), Unchanged(COMMON, source=None)  # type: ignore[arg-type]  # not read here
    assert reads_answers([exact]) and reads_answers([AnyOf(COMMON, (exact,))])
    assert not reads_answers([]) and not reads_answers([exact, state]) and not reads_answers([AnyOf(COMMON, (state,))])


MUTATED: list[tuple[Part, dict[str, str]]] = [
    (Part("A-19"), {"another number": "A-20", "another name": "Quillon Marsh"}),
    (Part("2026-02-28"), {"another date": "2026-03-01"}),
    (Part("due 2026-12-31, 9 h"), {"another date": "due 2027-01-01, 9 h"}),
    (Part(7), {"another number": "8"}),
    (Part(200, slack=20.0), {"another number": "241"}),
    (Part("Quillon Marsh"), {"another name": "Zephyrine"}),
    (Part(True), {"negation": "false"}),
    (Part(["a", "b"]), {"dropped item": '["a"]', "another name": '["Quillon Marsh", "b"]'}),
    (Part({"n": 1}), {"another number": '{"n": 2}'}),
    (Part(7, among=(7, 8)), {}),
]


@pytest.mark.parametrize(("part", "expected"), MUTATED)
def test_one_place_is_made_wrong(part: Part, expected: dict[str, str]) -> None:
    found = {m.what.partition(":")[0]: m.answer.text for m in mutants(Solution("text", (part,))) if not m.denial}
    assert found == expected


def test_an_item_of_several_is_left_out_and_the_whole_denied() -> None:
    found = list(mutants(Solution("text", (Part("lamp"), Part("vase")))))
    assert [m.answer.text for m in found if m.what.startswith("dropped item")] == ["vase", "lamp"]
    assert [m.answer.text for m in found if m.denial] == ["It is not the case that the answer is lamp; vase."]


def test_a_value_that_another_one_gives_as_well_stays() -> None:
    found = [m.what for m in mutants(Solution("text", (Part("lamp"), Part("Lamp shade")))) if not m.denial]
    assert found == ["another name: Lamp shade → Quillon Marsh", "dropped item: Lamp shade"]
    assert not any(
        "3 →" in m.what for m in mutants(Solution("text", (Part(3), Part("BIL-3"), Part("x")))) if "BIL" not in m.what
    )


def test_no_answer_has_no_mutants() -> None:
    assert list(mutants(Solution("free"))) == [] == list(mutants(Solution("refusal")))


def test_numbers_within_a_share_are_left_behind() -> None:
    near = Common("g1", normalisation=Normalisation(numbers_within=0.1))
    found = solution([Contains(near, (Literal("about 1000"),))], SCOPE)
    assert "about 1201" in [m.answer.text for m in mutants(found)]


SCALARS = st.one_of(st.text(max_size=20), st.integers(), st.floats(-1e9, 1e9), st.booleans())
ANY = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.dictionaries(st.text(max_size=4), SCALARS, max_size=3))


@given(st.lists(ANY, min_size=1, max_size=12))
def test_mutants_differ_from_the_answer_and_are_the_same_every_time(found: list[Any]) -> None:
    right = Solution("text", tuple(Part(value) for value in found))
    made = [m.answer.text for m in mutants(right)]
    assert made == [m.answer.text for m in mutants(right)]
    assert right.answer().text not in made and len(made) == len(set(made)) <= MOST
