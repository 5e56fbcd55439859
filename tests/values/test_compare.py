"""The rules of comparison, as tables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.values.compare import ABSENT, Tolerance, equal, has, holds
from mcpeval_dsl.values.containment import under
from mcpeval_dsl.values.numbers import near
from tests.values.shorthand import cases

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("case", cases("compare", __file__), ids=str)
def test_operator(case: list[Any]) -> None:
    left, operator, right, expected = case
    assert holds(left, operator, right) is expected


@pytest.mark.parametrize("case", cases("under", __file__), ids=str)
def test_under(case: list[Any]) -> None:
    text, base, expected = case
    assert under(text, base, "/w") is expected


def test_without_a_start_a_relative_path_is_under_no_absolute_one() -> None:
    assert not under("root/notes.md", "/w/root")


@pytest.mark.parametrize(
    "operator", ["==", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not in", "has", "not has", "under", "not under"]
)
def test_nothing_satisfies_no_operator(operator: Any) -> None:
    assert not holds(ABSENT, operator, "x")


def test_only_absent_names_what_is_not_there() -> None:
    assert holds(ABSENT, "==", ABSENT)
    assert holds(ABSENT, "in", [ABSENT, False])
    assert not holds(False, "==", ABSENT)
    assert holds(False, "in", [ABSENT, False])


@pytest.mark.parametrize(
    ("actual", "expected", "tolerance", "percent", "right"),
    [
        (96.124991, 96.12, 0.005, True, True),
        (96.61, 96.12, 0.005, True, False),
        (11.0, 10, 1, False, True),
        (11.01, 10, 1, False, False),
        (-9.5, -10, 0.05, True, True),
        (0.001, 0, 0.5, True, False),
        (10**400, 1.0, 1, False, False),
    ],
)
def test_near(actual: float, expected: float, tolerance: float, percent: bool, right: bool) -> None:
    assert near(actual, expected, tolerance, percent) is right


def test_a_tolerance_reaches_numbers_inside_values() -> None:
    assert equal({"a": [1.001, "2.001"]}, {"a": [1, "2"]}, Tolerance(0.01))
    assert not equal({"a": [1.2]}, {"a": [1]}, Tolerance(0.01))


@given(JSON)
def test_equality_is_reflexive(value: Any) -> None:
    assert equal(value, value)


@given(JSON, JSON)
def test_equality_is_symmetric(left: Any, right: Any) -> None:
    assert equal(left, right) == equal(right, left)


@given(JSON, JSON)
def test_a_negated_operator_is_the_opposite(left: Any, right: Any) -> None:
    for operator, negated in (("==", "!="), ("in", "not in"), ("has", "not has"), ("under", "not under")):
        assert holds(left, operator, right) != holds(left, negated, right)  # type: ignore[arg-type]


@given(st.lists(JSON, min_size=1, max_size=5), st.data())
def test_a_list_has_each_of_its_items(items: list[Any], data: st.DataObject) -> None:
    assert has(items, data.draw(st.sampled_from(items)))


_SEGMENT = st.sampled_from(["a", "b", "..", ".", "", "c"])


@given(st.lists(_SEGMENT, max_size=6), st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_under_is_what_resolving_says(parts: list[str], base: list[str]) -> None:
    resolved: list[str] = []
    for part in parts:
        if part == "..":
            resolved = resolved[:-1]
        elif part not in ("", "."):
            resolved.append(part)
    assert under("/" + "/".join(parts), "/" + "/".join(base)) == (resolved[: len(base)] == base)
