from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.diagnostics.suggestions import closest, distance

WORDS = st.text(st.sampled_from("abcde_"), max_size=8)


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("tilte", ["title", "tags"], "title"),
        ("grde", ["grade", "gate"], "grade"),
        ("list_isues", ["get_issue", "list_issues"], "list_issues"),
        ("list-issues", ["list_issues"], "list_issues"),
        ("Prompt", ["prompt"], "prompt"),
        ("ignore_case", ["ignore"], None),
        ("x", ["y"], None),
        ("ab", ["ab"], None),
        ("servr", ["server", "servers"], "server"),
        ("anything", [], None),
        ("", ["a", "ab"], None),
    ],
)
def test_nearest(word: str, candidates: list[str], expected: str | None) -> None:
    assert closest(word, candidates) == expected


@given(WORDS, WORDS)
def test_distance_is_symmetric_and_bounded(left: str, right: str) -> None:
    limit = 20
    assert distance(left, right, limit) == distance(right, left, limit) <= max(len(left), len(right))
    assert (distance(left, right, limit) == 0) == (left == right)


@given(WORDS, WORDS, st.integers(0, 4))
def test_a_limit_only_cuts(left: str, right: str, limit: int) -> None:
    assert distance(left, right, limit) == min(distance(left, right, 20), limit + 1)


@given(WORDS, st.lists(WORDS))
def test_the_answer_is_another_candidate(word: str, candidates: list[str]) -> None:
    found = closest(word, candidates)
    assert found is None or (found in candidates and found != word)
