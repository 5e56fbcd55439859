from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission, ToolDefinition
from mcpeval_dsl.records.model import ArgumentTrace, Lead
from mcpeval_dsl.score.facts import facts_of
from mcpeval_dsl.score.measures import Measures, measure
from mcpeval_dsl.semantics.expressions import ArgumentPattern, Behaviour, CallPattern, Combined, Literal
from tests.records.samples import call, trial
from tests.score.samples import verdict

TOOLS = tuple(ToolDefinition("tracker", name) for name in ("list_issues", "get_issue", "delete_issue"))
LIST = CallPattern("list_issues", "tracker")
GET = CallPattern("get_issue", "tracker", arguments=(ArgumentPattern("key", "==", Literal("A-1")),))
FAILED = CallError("tool_error", "not_found", "no")
UNKNOWN = CallError("tool_error", "not_found", "no A-77")
MADE_UP = ArgumentTrace(call="c1", argument="/key", value="A-77", verdict="invented", origin="none")
LEAD = Lead(kind="not_found of a vouched value", server="tracker", tool="get_issue", call="c1")


def calls(*given: tuple[str, dict[str, Any]]) -> tuple[CallRecord, ...]:
    return tuple(
        call(f"c{n}", tool, arguments=arguments, schema_valid=True, text="ok")
        for n, (tool, arguments) in enumerate(given)
    )


def measured(expect: tuple[Any, ...], made: tuple[CallRecord, ...], passed: bool = True, **changes: Any) -> Measures:
    values: dict[str, Any] = {"tools": TOOLS, "answer": Answer("given", "done")}
    return measure(trial(calls=made, **(values | changes)), expect, passed)


def test_all_that_is_expected_and_nothing_else() -> None:
    found = measured((LIST, GET), calls(("list_issues", {}), ("get_issue", {"key": "A-1"})))
    assert found == Measures(1.0, 1.0, 1.0, 1.0, 0.0, 0.0, None)


def test_a_wrong_argument_and_a_stray_call() -> None:
    made = calls(("list_issues", {}), ("get_issue", {"key": "B-2"}), ("delete_issue", {"key": "A-1"}))
    found = measured((LIST, GET), made)
    assert found.required_recall == 1.0
    assert found.tool_precision == pytest.approx(1 / 3)
    assert found.argument_accuracy == pytest.approx(1 / 2)
    assert found.distractor_rate == pytest.approx(1 / 3)


def test_required_tools_that_were_not_shown_are_not_missed() -> None:
    assert (
        measured((GET, CallPattern("hidden", "tracker")), calls(("get_issue", {"key": "A-1"}))).required_recall == 1.0
    )


def test_one_of_several_is_enough() -> None:
    either = Combined("any", (LIST, GET))
    assert measured((either,), calls(("list_issues", {}))).required_recall == 1.0
    assert measured((either,), calls(("delete_issue", {}))).required_recall == 0.0


def test_what_is_optional_or_forbidden_is_not_required() -> None:
    expect = (GET, Combined("optional", (LIST,)), Combined("none", (CallPattern("delete_issue", "tracker"),)))
    found = measured(expect, calls(("list_issues", {}), ("get_issue", {"key": "A-1"}), ("delete_issue", {})))
    assert found.required_recall == 1.0
    assert found.tool_precision == pytest.approx(2 / 3)


def test_a_call_that_feeds_a_necessary_one_is_necessary() -> None:
    search = call("c1", "search", arguments={"query": "tax"}, text='{"hits": [{"key": "A-1"}]}', schema_valid=True)
    get = call("c2", "get_issue", schema_valid=True, text="x")
    found = measured((GET,), (search, get))
    assert (found.tool_precision, found.distractor_rate) == (1.0, 0.0)


def test_a_call_that_feeds_the_answer_is_necessary() -> None:
    read = call("c1", "read", arguments={}, text="The total is 48120.55 today", schema_valid=True)
    found = measured((GET,), (read,), answer=Answer("given", "It is 48120.55."))
    assert found.tool_precision == 1.0


def test_without_expectations_only_what_needs_none_is_measured() -> None:
    found = measured((), calls(("list_issues", {}), ("list_issues", {})))
    assert found == Measures(argument_validity=1.0, redundancy=0.5)


def test_no_calls_measure_nothing_but_the_missing_ones() -> None:
    assert measured((GET,), ()) == Measures(required_recall=0.0)


@pytest.mark.parametrize(("passed", "right"), [(True, 1.0), (False, 0.0)])
def test_recovery(passed: bool, right: float) -> None:
    made = (call("c1", error=FAILED), call("c2"))
    assert measured((), made, passed).recovery == right


def test_our_own_denial_is_nothing_to_recover_from() -> None:
    denied = CallError("denied", "denied", "not permitted", cause="policy")
    made = (call("c1", error=denied, permission=Permission("denied")),)
    assert measured((), made).recovery is None
    assert "recovered" not in facts_of(trial(calls=made, verdicts=(verdict(),))).flags


@pytest.mark.parametrize(
    ("changes", "layer", "kind"),
    [
        ({"calls": (call("c1", error=FAILED, schema_valid=True),)}, "tool semantics", "server rejected a valid call"),
        (
            {"calls": (call("c1", error=FAILED, schema_valid=False),)},
            "task execution",
            "right tool with invalid arguments",
        ),
        (
            {"calls": (call("c1", error=UNKNOWN),), "arguments": (MADE_UP,)},
            "task execution",
            "right tool with invalid arguments",
        ),
        (
            {"calls": (call("c1", error=UNKNOWN),), "arguments": (MADE_UP.model_copy(update={"vouch": "strong"}),)},
            "tool semantics",
            "server rejected a valid call",
        ),
        (
            {"calls": (call("c1", error=UNKNOWN),), "arguments": (MADE_UP,), "leads": (LEAD,)},
            "tool semantics",
            "server rejected a valid call",
        ),
        ({"calls": (call("c1", error=FAILED), call("c2"))}, "task execution", None),
        (
            {"calls": (call("c1", error=CallError("transport_error", "crash", "exit 1")),)},
            "transport",
            "server rejected a valid call",
        ),
        (
            {"calls": (call("c1", error=CallError("invalid_result", "unknown", "x")),)},
            "protocol",
            "server rejected a valid call",
        ),
        ({"calls": (call("c1"),)}, "task execution", "every call succeeded and the answer is wrong"),
        ({"calls": (call("c1", truncated=True),)}, "task execution", "host dropped or transformed a response"),
        (
            {"calls": (call("c1"),), "findings": ("truncated: s.t (c1), 9 characters left out",)},
            "task execution",
            "host dropped or transformed a response",
        ),
        ({"calls": (), "termination": "turn_limit", "answer": Answer("none")}, "operations", None),
        ({"calls": (call("c1", effect_unknown=True),)}, "transport", "every call succeeded and the answer is wrong"),
        ({"calls": (), "answer": Answer("refusal")}, "task execution", "refused"),
        ({"verdicts": (verdict("no", kind="calls"),)}, "task execution", "wrong tool"),
    ],
)
def test_what_a_failure_is_put_down_to(changes: dict[str, Any], layer: str, kind: str | None) -> None:
    facts = facts_of(trial(**({"verdicts": (verdict("no"),)} | changes)))
    assert (facts.layer, facts.failure_kind) == (layer, kind)


def test_writing_last_and_not_looking_is_claiming_without_verifying() -> None:
    write = call("c1", "update_issue", permission=Permission("allowed", "additive"))
    facts = facts_of(trial(calls=(write,), verdicts=(verdict("no", reads="state", kind="state"),)))
    assert facts.failure_kind == "claimed success without verifying"


def test_a_write_repeated_after_an_unknown_effect_is_flagged() -> None:
    timed_out = call("c1", "create", effect_unknown=True, error=CallError("timeout", "timeout", "10 s"))
    facts = facts_of(trial(calls=(timed_out, call("c2", "create"))))
    assert {"unknown_effect", "repeated_after_unknown_effect"} <= set(facts.flags)


def test_a_call_that_may_be_repeated_is_no_such_thing() -> None:
    permission = Permission("allowed", "additive", idempotent=True)
    error = CallError("timeout", "timeout", "10 s")
    timed_out = call("c1", "put", effect_unknown=True, error=error, permission=permission)
    facts = facts_of(trial(calls=(timed_out, call("c2", "put", permission=permission))))
    assert "unknown_effect" in facts.flags and "repeated_after_unknown_effect" not in facts.flags


def test_moved_ground_truth_is_a_fact_and_no_flag() -> None:
    facts = facts_of(trial(flags=("ground_truth_moved:other_writer", "drift_seen")))
    assert facts.truth_moved == "other_writer"
    assert facts.flags == ("drift_seen",)


ASKED = Behaviour("question")
LEAVE = Behaviour("confirmation")
RECOVERY = Behaviour("recovery")


@pytest.mark.parametrize(
    ("expect", "answer", "seen"),
    [
        ((ASKED,), "Which project do you mean?", (1.0, None, None)),
        ((ASKED,), "I closed it.", (0.0, None, None)),
        ((LEAVE,), "Shall I close A-1?", (None, 1.0, None)),
        ((LEAVE,), "Which project do you mean?", (None, 0.0, None)),
        ((ASKED, LEAVE), "Shall I close A-1?", (1.0, 1.0, None)),
        ((Combined("any", (ASKED, LIST)),), "Which one?", (1.0, None, None)),
        ((Combined("none", (ASKED,)),), "Which one?", (None, None, None)),
        ((LIST,), "Which one?", (None, None, None)),
    ],
)
def test_a_behaviour_is_measured_where_it_is_expected(
    expect: tuple[Any, ...], answer: str, seen: tuple[float | None, ...]
) -> None:
    found = measured(expect, (), answer=Answer("given", answer))
    assert (found.expected_question, found.expected_confirmation, found.expected_recovery) == seen


def test_a_recovery_is_measured_where_something_failed() -> None:
    ok, failed = call("c2", "list_issues", text="ok"), call("c1", "get_issue", error=FAILED, is_error=True)
    assert measured((RECOVERY,), (failed, ok)).expected_recovery == 1.0
    assert measured((RECOVERY,), (failed,)).expected_recovery == 0.0
    assert measured((RECOVERY,), (ok,)).expected_recovery is None
    assert measured((LIST,), (failed, ok)).expected_recovery is None
