"""Findings from transcripts: for each kind a history that shows it, and a near miss that does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mcpeval_dsl.agents.model import Answer, ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission, ToolDefinition, Violation
from mcpeval_dsl.records.model import (
    AgentIdentity,
    ArgumentTrace,
    InfraTrouble,
    Lead,
    ServerIdentity,
    TrialRecord,
)
from mcpeval_dsl.score.model import FindingRow
from mcpeval_dsl.score.scorecard import build
from mcpeval_dsl.semantics.expressions import ArgumentPattern, CallPattern, Combined, Literal
from mcpeval_dsl.semantics.graders import Claim, Common, Judge
from mcpeval_dsl.semantics.model import Task
from tests.records.samples import call
from tests.score.samples import plan, task, trial, verdict

TOOLS = tuple(ToolDefinition("tracker", name) for name in ("get_issue", "list_issues", "find_issue", "update_issue"))
READ, WRITE = Permission("allowed", "readonly"), Permission("allowed", "additive")
REFUSED = CallError("tool_error", "validation", "key must be given")


def ok(id_: str, tool: str = "get_issue", arguments: dict[str, Any] | None = None, **changes: Any) -> CallRecord:
    values: dict[str, Any] = {"text": f"said {id_}", "permission": READ}
    return call(id_, tool, arguments={} if arguments is None else arguments, **(values | changes))


def wrote(id_: str, **changes: Any) -> CallRecord:
    return ok(id_, "update_issue", {"key": "A-1"}, permission=WRITE, **changes)


def failed(id_: str, tool: str = "get_issue", error: CallError = REFUSED, **changes: Any) -> CallRecord:
    return ok(id_, tool, {"key": "x"}, error=error, is_error=True, **changes)


def seen(*calls: CallRecord, number: int = 1, said: str = "no", group: str = "one@m", **changes: Any) -> TrialRecord:
    values: dict[str, Any] = {"calls": calls, "tools": TOOLS, "turns": ()}
    return trial(group, number, said, **(values | changes))


def found(records: list[TrialRecord], of: Task | None = None, **changes: Any) -> dict[str, list[FindingRow]]:
    """Findings of a run of one task by kind."""
    made = plan([of or task("one")], trials=max(6, len(records)), **changes)
    rows: dict[str, list[FindingRow]] = {}
    for row in build(made, records).scorecard.findings:
        rows.setdefault(row.kind, []).append(row)
    return rows


def answer(text: str) -> Answer:
    return Answer("given", text, None, True)


def pages(count: int, name: str = "cursor") -> list[CallRecord]:
    return [ok(f"c{n}", "list_issues", {"state": "open"} | ({name: n} if n else {})) for n in range(count)]


def expecting(*patterns: Any) -> Task:
    return task("one", expect=patterns)


def pattern(tool: str, **arguments: Any) -> CallPattern:
    wanted = tuple(ArgumentPattern(name, "==", Literal(value)) for name, value in arguments.items())
    return CallPattern(tool=tool, server="tracker", arguments=wanted)


def turn(tokens: int, ms: float) -> TurnRecord:
    return TurnRecord(1, "A-1", (), (), "end_turn", Usage(10, tokens), "m", 0.0, ms, 0.0, 0)


LIVE = AgentIdentity(host="loop", host_version="1", model="m", driver="anthropic")
TRACE = ArgumentTrace(call="c1", argument="/key", value="A-77", verdict="invented", origin="none")
UNKNOWN = CallError("tool_error", "not_found", "no A-77")
LIMITED = CallError("tool_error", "rate", "too many requests")
SOFT = CallError("error_in_success", "not_found", "Error: none")
LEAD = Lead(kind="not_found of a vouched value", server="tracker", tool="get_issue", call="c1")


@dataclass(frozen=True)
class Case:
    """`calls` are the evidence that the finding names."""

    kind: str
    shows: Callable[[], TrialRecord]
    near: Callable[[], TrialRecord]
    calls: tuple[str, ...] = ()
    task: Task | None = None


CASES = {
    "equal arguments, equal result": Case(
        "repeated_call",
        lambda: seen(ok("c1", text="same"), ok("c2", text="same")),
        lambda: seen(ok("c1", text="working"), ok("c2", text="done")),
        ("c1", "c2"),
    ),
    "a read after a write verifies": Case(
        "repeated_call",
        lambda: seen(wrote("c1"), ok("c2", text="same"), ok("c3", text="same")),
        lambda: seen(ok("c1", text="same"), wrote("c2"), ok("c3", text="same")),
        ("c2", "c3"),
    ),
    "a write made twice": Case(
        "repeated_call",
        lambda: seen(wrote("c1"), wrote("c2")),
        lambda: seen(wrote("c1"), ok("c2", "update_issue", {"key": "A-2"}, permission=WRITE)),
        ("c1", "c2"),
    ),
    "retry without a change": Case(
        "unchanged_retry",
        lambda: seen(failed("c1"), failed("c2")),
        lambda: seen(failed("c1"), ok("c2", arguments={"key": "A-1"})),
        ("c1", "c2"),
    ),
    "retry after a rate limit": Case(
        "unchanged_retry",
        lambda: seen(failed("c1"), failed("c2")),
        lambda: seen(failed("c1", error=LIMITED), failed("c2", error=LIMITED)),
        ("c1", "c2"),
    ),
    "a required tool is not reached": Case(
        "not_reached",
        lambda: seen(ok("c1", "get_issue")),
        lambda: seen(ok("c1", "list_issues")),
        task=expecting(pattern("list_issues")),
    ),
    "an optional tool need not be": Case(
        "not_reached",
        lambda: seen(ok("c1", "get_issue")),
        lambda: seen(ok("c1", "list_issues")),
        task=expecting(pattern("list_issues"), Combined("optional", (pattern("find_issue"),))),
    ),
    "a required tool is not shown": Case(
        "not_shown",
        lambda: seen(ok("c1"), tools=TOOLS[:1]),
        lambda: seen(ok("c1")),
        task=expecting(pattern("list_issues")),
    ),
    "an argument that is not as expected": Case(
        "wrong_argument",
        lambda: seen(ok("c1", "list_issues", {"state": "all"})),
        lambda: seen(ok("c1", "list_issues", {"state": "all"}), ok("c2", "list_issues", {"state": "open"})),
        ("c1",),
        expecting(pattern("list_issues", state="open")),
    ),
    "arguments that the schema refuses": Case(
        "wrong_argument",
        lambda: seen(failed("c1", schema_valid=False, schema_errors=("key is required",))),
        lambda: seen(failed("c1", schema_valid=True)),
        ("c1",),
    ),
    "an argument that was made up": Case(
        "wrong_argument",
        lambda: seen(failed("c1", error=UNKNOWN), arguments=(TRACE,)),
        lambda: seen(failed("c1", error=UNKNOWN), arguments=(TRACE.model_copy(update={"verdict": "unknown"}),)),
        ("c1",),
    ),
    "a result was cut": Case(
        "cut_result", lambda: seen(ok("c1", truncated=True)), lambda: seen(ok("c1", result_bytes=10**6)), ("c1",)
    ),
    "a host showed a part alone": Case(
        "cut_result",
        lambda: seen(ok("c1"), findings=("truncated: tracker.get_issue (c1), 70 characters left out",)),
        lambda: seen(ok("c1"), findings=("truncated: something else",)),
        ("c1",),
    ),
    "a failure called success": Case(
        "error_in_success", lambda: seen(failed("c1", error=SOFT)), lambda: seen(failed("c1")), ("c1",)
    ),
    "many pages": Case("many_pages", lambda: seen(*pages(4)), lambda: seen(*pages(3)), ("c0", "c1", "c2", "c3")),
    "other lists are no pages": Case(
        "many_pages",
        lambda: seen(*pages(4, "page_token")),
        lambda: seen(*pages(4, "label")),
        ("c0", "c1", "c2", "c3"),
    ),
    "all calls succeeded": Case("wrong_all_the_same", lambda: seen(ok("c1")), lambda: seen(failed("c1")), ("c1",)),
    "an action that was not carried out": Case(
        "claimed_action",
        lambda: seen(ok("c1"), answer=answer("I've updated A-1 and closed it.")),
        lambda: seen(ok("c1"), wrote("c2"), answer=answer("I've updated A-1 and closed it.")),
        ("c1",),
    ),
    "the world in the passive": Case(
        "claimed_action",
        lambda: seen(ok("c1"), answer=answer("I have just closed A-1.")),
        lambda: seen(ok("c1"), answer=answer("A-1 has been closed since May.")),
        ("c1",),
    ),
    "the passive where the task asks for it": Case(
        "claimed_action",
        lambda: seen(ok("c1"), answer=answer("A-1 has been closed.")),
        lambda: seen(failed("c1"), answer=answer("A-1 could not be closed.")),
        ("c1",),
        task("one", may=(pattern("update_issue"),)),
    ),
    "a check that was not made": Case(
        "claimed_check",
        lambda: seen(ok("c1"), wrote("c2"), answer=answer("I updated A-1 and verified the change.")),
        lambda: seen(wrote("c1"), ok("c2"), answer=answer("I updated A-1 and verified the change.")),
        ("c1", "c2"),
    ),
    "gave up": Case(
        "gave_up",
        lambda: seen(ok("c1"), failed("c2")),
        lambda: seen(failed("c1"), ok("c2")),
        ("c2",),
    ),
    "nothing to recover with": Case(
        "gave_up", lambda: seen(failed("c1")), lambda: seen(failed("c1"), leads=(LEAD,)), ("c1",)
    ),
    "stopped from outside": Case(
        "gave_up", lambda: seen(failed("c1")), lambda: seen(failed("c1"), termination="turn_limit"), ("c1",)
    ),
    "exact rejects what the judge accepts": Case(
        "graders_disagree",
        lambda: seen(verdicts=(verdict("no"), verdict("yes", kind="judge", grader="g2"))),
        lambda: seen(verdicts=(verdict("no"), verdict("no", kind="judge", grader="g2"))),
    ),
    "a judge of another turn": Case(
        "graders_disagree",
        lambda: seen(verdicts=(verdict("no", turn=1), verdict("yes", kind="judge", grader="g2", turn=1))),
        lambda: seen(verdicts=(verdict("no", turn=1), verdict("yes", kind="judge", grader="g2", turn=2))),
    ),
    "faster than a model": Case(
        "impossible_latency",
        lambda: seen(agent=LIVE, turns=(turn(400, 1.0),)),
        lambda: seen(agent=LIVE, turns=(turn(400, 900.0),)),
    ),
    "a script may be fast": Case(
        "impossible_latency",
        lambda: seen(agent=LIVE, turns=(turn(5, 0.1),)),
        lambda: seen(turns=(turn(5, 0.1),)),
    ),
    "a distractor": Case("distracted", lambda: seen(ok("c1", distractor=True)), lambda: seen(ok("c1")), ("c1",)),
    "a value that the prompt named": Case(
        "shown_in_vain",
        lambda: seen(
            failed("c1", error=UNKNOWN),
            arguments=(TRACE.model_copy(update={"verdict": "known", "origin": "prompt"}),),
        ),
        lambda: seen(
            failed("c1", error=UNKNOWN),
            said="yes",
            arguments=(TRACE.model_copy(update={"verdict": "known", "origin": "prompt"}),),
        ),
        ("c1",),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_shows_a_finding_and_what_nearly_does(case: Case) -> None:
    (row,) = found([case.shows()], case.task)[case.kind]
    assert (row.strength, row.trials, row.first_trial) == ("lead", 1, "one@m#1")
    assert [(each.trial, each.calls) for each in row.evidence] == [("one@m#1", case.calls)]
    assert row.change
    assert case.kind not in found([case.near()], case.task)


def test_seen_in_two_trials_a_lead_is_a_finding() -> None:
    records = [seen(failed("c1"), failed("c2"), number=number) for number in (1, 2)]
    (row,) = found(records)["unchanged_retry"]
    assert (row.strength, row.trials, row.first_trial) == ("finding", 2, "one@m#1")
    assert [each.trial for each in row.evidence] == ["one@m#1", "one@m#2"]


def test_the_first_trials_stand_for_all() -> None:
    records = [seen(failed("c1"), failed("c2"), number=number) for number in range(1, 10)]
    (row,) = found(records)["unchanged_retry"]
    assert (row.trials, len(row.evidence)) == (9, 5)


def test_a_held_out_task_feeds_none() -> None:
    records = [seen(failed("c1"), failed("c2"), number=n, split="heldout") for n in (1, 2, 3)]
    assert found(records, task("one", split="heldout")) == {}


def test_two_tools_are_confused() -> None:
    right = [seen(ok("c1", "find_issue"), number=n, said="yes") for n in (1, 2)]
    wrong = [seen(ok("c1"), ok("c2", "list_issues"), number=n) for n in (3, 4)]
    right = [each.model_copy(update={"calls": (*each.calls, ok("c9"))}) for each in right]
    (row,) = found([*right, *wrong])["confused_tools"]
    assert row.text == "tracker.list_issues was called where every passing trial of one called tracker.find_issue"
    assert [(each.trial, each.calls) for each in row.evidence] == [("one@m#3", ("c2",)), ("one@m#4", ("c2",))]


def test_tools_are_not_confused_where_a_passing_trial_calls_the_same() -> None:
    right = seen(ok("c1", "find_issue"), ok("c2", "list_issues"), said="yes")
    assert "confused_tools" not in found([right, seen(ok("c1", "list_issues"), number=2)])


def test_tools_are_not_confused_where_nothing_passes() -> None:
    assert "confused_tools" not in found([seen(ok("c1", "list_issues"), number=n) for n in (1, 2)])


def test_versions_of_a_tool_are_not_confused() -> None:
    def of(version: str, number: int, said: str, tool: str = "list_issues") -> TrialRecord:
        servers = (ServerIdentity(name=version),)
        return seen(ok("c1", tool, server=version), number=number, said=said, servers=servers)

    both = [of("old", 1, "yes"), of("new", 2, "no")]
    assert "confused_tools" not in found(both)
    (row,) = found([*both, of("new", 3, "yes", "find_issue")])["confused_tools"]
    assert row.text.startswith("new.list_issues was called where every passing trial of one called new.find_issue")


def test_a_baseline_without_the_server_hides_no_tools() -> None:
    of = expecting(pattern("list_issues"))
    baseline = seen(ok("c1"), tools=TOOLS[:1], arm="files")
    (row,) = found([baseline], of)["not_shown"]
    assert row.text == "one requires list_issues, which its agents in arm files are not shown"
    for said in ("yes", "no"):
        assert "not_shown" not in found([baseline, seen(ok("c1", "list_issues"), number=2, said=said, arm="mcp")], of)
    # A program that got it right says nothing of the tools of the server.
    assert "not_shown" in found([baseline, seen(tools=(), number=2, said="yes", arm="cli")], of)


def test_no_trial_is_right() -> None:
    (row,) = found([seen(number=n) for n in (1, 2)])["never_passed"]
    assert row.text.startswith("no trial of one is right") and row.trials == 2
    assert "never_passed" not in found([seen(), seen(number=2, said="yes")])
    assert "never_passed" not in found([seen()])
    unsafe = (Violation("destructive_call", "critical", ("attempted", "blocked")),)
    assert "never_passed" not in found([seen(number=n, said="yes", violations=unsafe) for n in (1, 2)])


def test_a_task_that_every_trial_passes_is_to_become_a_regression_task() -> None:
    passing = [seen(number=n, said="yes") for n in range(1, 6)]
    (row,) = found(passing)["saturated"]
    assert (row.strength, row.trials) == ("finding", 5)
    assert "`purpose regression` in task one" in row.change
    assert "saturated" not in found(passing, task("one", purpose="regression"))
    assert "saturated" not in found(passing[:4])
    assert "saturated" not in found([*passing, seen(number=6)])


def test_a_task_with_an_untestable_trial_is_not_saturated() -> None:
    trouble = InfraTrouble(kind="model_api", when="before_answer", chain=("model_api:429",))
    spoilt = seen(number=6, said="missing", trouble=trouble, termination="model_api")
    assert "saturated" not in found([*(seen(number=n, said="yes") for n in range(1, 6)), spoilt])


def test_a_judge_that_disagrees_with_itself() -> None:
    def judged(number: int, said: str, text: str = "A-1") -> TrialRecord:
        return seen(number=number, verdicts=(verdict(said, kind="judge", actual=said),), answer=answer(text))

    (row,) = found([judged(1, "yes"), judged(2, "no")])["unsteady_grader"]
    assert [each.trial for each in row.evidence] == ["one@m#1", "one@m#2"]
    assert "unsteady_grader" not in found([judged(1, "yes"), judged(2, "no", "A-2")])
    assert "unsteady_grader" not in found([judged(1, "no"), judged(2, "no")])


def test_what_a_host_left_out_is_one_finding_of_several_trials() -> None:
    notes = [f"truncated: tracker.get_issue (c1), {length} characters left out" for length in (70, 80)]
    of = found([seen(ok("c1"), number=n, findings=(note,)) for n, note in enumerate(notes, 1)])
    (row,) = of["cut_result"]
    assert (row.strength, row.trials) == ("finding", 2)
    assert "noted" not in of


def test_values_in_a_finding_are_quoted_once() -> None:
    (row,) = found([seen(ok("c1", "list_issues", {"state": "all"}))], expecting(pattern("list_issues", state="open")))[
        "wrong_argument"
    ]
    assert row.text == 'tracker.list_issues: argument state is "all", where == "open" is expected'


@pytest.mark.parametrize("kind", ["python", "command"])
def test_a_grader_of_the_whole_trial_may_decide_by_what_was_called(kind: str) -> None:
    """Functions and commands read calls too: they contradict themselves where those are the same as well."""

    def judged(number: int, said: str, *calls: CallRecord) -> TrialRecord:
        return seen(*calls, number=number, verdicts=(verdict(said, kind=kind, reads="answer"),), answer=answer("A-1"))

    (row,) = found([judged(1, "yes", ok("c1")), judged(2, "no", ok("c1"))])["unsteady_grader"]
    assert [each.trial for each in row.evidence] == ["one@m#1", "one@m#2"]
    assert "unsteady_grader" not in found([judged(1, "yes", ok("c1")), judged(2, "no")])


@pytest.mark.parametrize(("transcript", "steady"), [("answer", False), ("whole", True)])
def test_a_judge_of_the_transcript_may_decide_by_what_was_called(transcript: Any, steady: bool) -> None:
    of = task("one", graders=(Judge(Common("g1"), (Claim(Literal("is so")),), "critic", transcript=transcript),))

    def judged(number: int, said: str, *calls: CallRecord) -> TrialRecord:
        return seen(*calls, number=number, verdicts=(verdict(said, kind="judge", grader="g1"),), answer=answer("A-1"))

    assert ("unsteady_grader" not in found([judged(1, "yes", ok("c1")), judged(2, "no")], of)) is steady


def test_trials_that_a_cache_plays_back() -> None:
    def asked(number: int, id_: str) -> TrialRecord:
        once = turn(5, 900.0)
        asks = (ToolRequest(id_, "get_issue", {}),)
        return seen(number=number, agent=LIVE, turns=(TurnRecord(1, "", asks, (), *_rest(once)),))

    same, other = "toolu_0123456789abcdef", "toolu_fedcba9876543210"
    (row,) = found([asked(1, same), asked(2, same)])["identical_trials"]
    assert row.evidence[0].trial == "one@m#2"
    assert "identical_trials" not in found([asked(1, same), asked(2, other)])


def _rest(once: TurnRecord) -> tuple[Any, ...]:
    return (once.stop, once.usage, once.model, once.at_ms, once.duration_ms, once.waited_ms, once.retries)


def test_each_call_is_looked_at_once() -> None:
    """Twice as many calls take about twice as long: a hundred times as many would show a square."""
    import time

    def seconds(count: int) -> float:
        calls = [ok(f"c{n}", "list_issues", {"cursor": n}) if n % 2 else wrote(f"c{n}") for n in range(count)]
        record = seen(*calls)
        began = time.process_time()
        found([record], expecting(pattern("list_issues", state="open")))
        return time.process_time() - began

    seconds(100)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01)
