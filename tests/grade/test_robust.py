"""Whatever an agent answers and a server gives, a grader has a verdict and never fails itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.grade.dates import dates_in
from mcpeval_dsl.grade.registry import grade
from tests.grade.building import SERVICES, grader, record
from tests.values.test_compare import JSON

ANSWER = st.text(max_size=60) | JSON.map(lambda value: {"data": value}) | st.sampled_from(["none", "refusal"])
HOW = st.fixed_dictionaries(
    {},
    optional={
        "ignore": st.lists(st.sampled_from(["case", "whitespace", "punctuation", "commas"]), max_size=2),
        "as": st.sampled_from(["date", "number", "json", "groups"]),
        "unordered": st.booleans(),
        "numbers_within": st.sampled_from([0.0, 0.01]),
        "format": st.sampled_from(["YYYY/MM/DD", "1.234,56", "x"]),
    },
)
LITERAL = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers() | st.text(max_size=4))
)
SIDE = {"path": "$.a", "of": {"tool": "t.all"}}


def written(kind: str, expected: Any) -> dict[str, Any]:
    match kind:
        case "contains":
            return {"contains": [expected]}
        case "json":
            return {"json": [{"path": "$.a"}, "==", expected]}
        case "state":
            return {"state": [SIDE, "has", expected]}
        case "same_state":
            return {"same_state": [{"tool": "t.all"}], "ignore_paths": [{"path": "$..a"}]}
        case "unchanged":
            return {"unchanged": {"tool": "t.all"}, "except": [{"path": "$[0]"}]}
        case _:
            return {kind: expected}


@pytest.mark.parametrize(
    "kind",
    ["exact", "one_of", "contains", "number", "set", "json", "state", "same_state", "unchanged", "results", "evidence"],
)
@given(expected=LITERAL, answer=ANSWER, how=HOW, read=JSON, other=JSON)
def test_there_is_always_a_verdict(
    kind: str, expected: Any, answer: Any, how: dict[str, Any], read: Any, other: Any
) -> None:
    facts = {
        "answer": answer,
        "readings": [
            {"of": {"tool": "t.all"}, "data": read},
            {"of": {"tool": "t.all"}, "when": "before", "data": other},
            {"of": {"tool": "t.all"}, "when": "reference", "data": other},
        ],
        "calls": [
            {"tool": "get", "data": read, "text": str(read)},
            {"tool": "get", "actor": "reference", "data": other},
        ],
    }
    found = asyncio.run(grade(grader({**written(kind, expected), **how}), record(facts), SERVICES))
    assert found.verdict in ("yes", "no", "missing", "moot")


@pytest.mark.parametrize("format", ["x", "D", "YYYY", "MM-DD", ""])
def test_a_format_that_names_no_day_reads_none(format: str) -> None:
    assert dates_in("x 7 2026 07-04", format) == []
