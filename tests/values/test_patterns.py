"""Call patterns against one call and against all calls of a trial, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.observed import ObservedCall, satisfies
from mcpeval_dsl.values.patterns import argument_free, matches
from tests.values.shorthand import cases, pattern

SCOPE = Scope({"billing": {"key": "BILL-1"}, "workdir": "/w", "q": {"tool": "git_log"}})


@pytest.mark.parametrize("case", cases("patterns", __file__), ids=str)
def test_one_call(case: dict[str, Any]) -> None:
    server, tool, arguments = case["call"]
    found = matches(
        pattern(case["pattern"]),
        server,
        tool,
        arguments,
        SCOPE,
        catalogue=case.get("catalogue"),
        effect=case.get("effect"),
    )
    assert found is case["matches"]


def _call(position: int, name: str) -> ObservedCall:
    return ObservedCall(f"c{position}", "t", name.rstrip("!-"), failed=name.endswith("!"), denied=name.endswith("-"))


@pytest.mark.parametrize("case", cases("observed", __file__), ids=str)
def test_all_calls(case: dict[str, Any]) -> None:
    calls = [_call(position, name) for position, name in enumerate(case["calls"])]
    result = satisfies(pattern(case["pattern"]), calls, SCOPE, case.get("behaviours"))
    assert result.holds is case["holds"], (result.actual, result.expected)


def test_a_result_names_pattern_and_calls() -> None:
    calls = [ObservedCall("c1", "t", "list", {"page": 1}), ObservedCall("c2", "t", "purge", denied=True)]
    wanted = pattern({"none": [{"call": "purge", "where": []}]})
    result = satisfies(wanted, calls, SCOPE)
    assert (result.expected, result.actual, result.against) == ("none(purge)", "purge() (denied)", (1,))
    asked = satisfies(pattern({"call": "up", "where": [["key", "==", {"ref": "billing.key"}]]}), calls, SCOPE)
    assert asked.expected == 'up(key: "BILL-1")'
    assert asked.actual == 'list("page": 1), purge() (denied)'


def test_a_pattern_whose_value_is_unknown_is_an_error_value() -> None:
    wanted = pattern({"call": "up", "where": [["key", "==", {"ref": "nothing.key"}]]})
    with pytest.raises(EvaluationError, match="`nothing` has no value here"):
        matches(wanted, "t", "up", {"key": "x"}, SCOPE)


def test_a_pattern_is_free_of_arguments_when_only_the_name_decides() -> None:
    assert argument_free(pattern({"any": ["a", "list_*"]}))
    assert not argument_free(pattern({"any": ["a", {"call": "b", "where": [["x", "==", 1]]}]}))
