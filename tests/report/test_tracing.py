"""Where an argument came from, in words."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.model import CallError
from mcpeval_dsl.records.model import ArgumentTrace
from mcpeval_dsl.report.page import Page
from mcpeval_dsl.report.tracing import marks
from mcpeval_dsl.report.transcript import render
from tests.records.samples import call, trial


def trace(**changes: Any) -> ArgumentTrace:
    values = {"call": "c2", "argument": "/key", "value": "LEG-102", "verdict": "known", "origin": "prompt"}
    return ArgumentTrace(**(values | changes))


NAMED = {"vouch": "strong", "vouched_by": "c1", "vouched_tool": "list_issues"}


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (trace(origin="harvest", source="legacy", **NAMED), "LEG-102: harvest legacy, named by list_issues (c1)"),
        (trace(value="X-99", verdict="invented", origin="invented"), "X-99: invented"),
        (trace(origin="result", source="c1", **NAMED), "LEG-102: named by list_issues (c1)"),
        (trace(), "LEG-102: the prompt"),
        (
            trace(verdict="derived", origin="result", source="c1", form="date", **(NAMED | {"vouch": "hint"})),
            "LEG-102: a result of list_issues (c1), as a date in another form, only mentioned by list_issues (c1)",
        ),
        (trace(origin="catalogue", source="s.get_issue"), "LEG-102: the description of s.get_issue"),
    ],
)
def test_words(seen: ArgumentTrace, words: str) -> None:
    calls = {"c1": call("c1", "list_issues")}
    assert list(marks([seen], calls)) == [("c2", words)]


def test_an_argument_that_no_error_speaks_of_is_left_out() -> None:
    assert list(marks([trace(decisive=False)], {})) == []


def test_the_transcript_shows_it_below_the_error() -> None:
    failed = call("c2", error=CallError("tool_error", "not_found", "no LEG-102"), turn=2)
    text = render(trial(calls=(failed,), arguments=(trace(),)), Page("r1"))
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "no LEG-102" in line)
    assert lines[at + 1].strip() == "· LEG-102: the prompt"
