from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import ToolDefinition, Violation
from mcpeval_dsl.plan.model import FileDigest
from mcpeval_dsl.records.model import ConnectRecord, Lead, Manifest
from mcpeval_dsl.report.comparison import render
from mcpeval_dsl.score.gather import gather
from mcpeval_dsl.score.runs import compare_runs
from mcpeval_dsl.score.scorecard import build
from mcpeval_dsl.score.sides import Side
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.graders import Common, Contains
from mcpeval_dsl.semantics.model import Budget, EnvironmentVariable, Header, Limit, Server
from tests.records.samples import manifest
from tests.score.arms import armed, ran, tasks
from tests.score.samples import rule

CONTAINS = Contains(Common("g1"), (Literal("1"),))
CRITICAL = Violation("destructive call", "critical", ("attempted", "blocked"), "c1")


def sided(made: Any, records: Any, name: str = "new", connects: Any = (), **changes: Any) -> Side:
    found = gather(made, records, connects)
    side = Side(name, made, found.frame, found.tallies.safety.result(), found.tallies.leads.result(), connects)
    told = {"answered": found.tallies.answered, "began": found.tallies.began}
    return replace(side, **({"repeats": sum(found.repeats.values())} | told | changes))


def solo(count: int = 10, **changes: Any) -> Any:
    return armed(tasks(count, **changes), arms=("mcp",), comparisons=())


def both(now: int, before: int, count: int = 10, **changes: Any) -> Any:
    made = solo(count)
    one = sided(made, ran(made, {"sonnet/mcp": now}, **changes))
    return compare_runs(one, sided(made, ran(made, {"sonnet/mcp": before}), "old"))


@pytest.mark.parametrize(
    ("now", "before", "count", "verdict", "code"),
    [
        (1, 4, 10, "regression", 1),
        (4, 1, 10, "none shown", 0),
        (3, 3, 10, "none shown", 0),
        (1, 4, 5, "insufficient data", 4),
        (3, 4, 6, "insufficient data", 4),
        (3, 4, 7, "regression", 1),
    ],
)
def test_verdict_and_exit_code(now: int, before: int, count: int, verdict: str, code: int) -> None:
    found = both(now, before, count)
    assert (found.verdict, found.exit_code) == (verdict, code)


def test_more_calls_are_a_regression_although_as_many_pass() -> None:
    made = solo()
    one = sided(made, ran(made, {"sonnet/mcp": 4}, calls={"sonnet/mcp": 4}))
    found = compare_runs(one, sided(made, ran(made, {"sonnet/mcp": 4}, calls={"sonnet/mcp": 2}), "old"))
    (cell,) = found.cells
    assert found.verdict == "regression"
    assert found.because == ("more calls in sonnet/mcp: +2.00 a trial",)
    assert (cell.difference.value, cell.calls_difference.value, cell.calls_difference.word) == (0.0, 2.0, "worse")
    assert [each.value for each in cell.overheads] == [0.0, 2.0, 200.0]
    better = compare_runs(sided(made, ran(made, {"sonnet/mcp": 4}, calls={"sonnet/mcp": 1})), one)
    assert (better.verdict, better.cells[0].calls_difference.word) == ("none shown", "better")


def test_passes_and_calls_of_all_cells_are_one_family() -> None:
    (cell,) = both(1, 4).cells
    assert cell.difference.adjusted_by == cell.calls_difference.adjusted_by == "Holm"
    assert cell.difference.p_adjusted == pytest.approx(2 * cell.difference.p)


def test_tasks_that_flipped_are_named() -> None:
    made = solo()
    letters = {"t00@sonnet/mcp": "nnny", "t01@sonnet/mcp": "ynyn", "t02@sonnet/mcp": "yyyn"}
    before = {"t02@sonnet/mcp": "nnnn"}
    one = sided(made, ran(made, {"sonnet/mcp": 4}, by_task=letters))
    found = compare_runs(one, sided(made, ran(made, {"sonnet/mcp": 4}, by_task=before), "old"))
    assert [(f.instance, f.direction, f.passed, f.baseline_passed) for f in found.flips] == [
        ("t00", "lost", 1, 4),
        ("t01", "lost", 2, 4),
        ("t02", "gained", 3, 0),
    ]
    assert found.verdict == "none shown"


def test_tasks_on_one_side_only_are_listed() -> None:
    new, old = solo(10), armed([*tasks(9), *tasks(11)[10:]], arms=("mcp",), comparisons=())
    found = compare_runs(sided(new, ran(new, {"sonnet/mcp": 4})), sided(old, ran(old, {"sonnet/mcp": 4}), "old"))
    assert (found.tasks, found.only_run, found.only_baseline) == (9, ("t09",), ("t10",))
    assert found.cells[0].difference.tasks == 9


def other_plan(made: Any, **changes: Any) -> Any:
    return made.model_copy(update=changes)


def _unequal(name: str) -> tuple[Any, Any]:
    """Two plans that differ in one thing."""
    made = solo()
    server = Server("tracker", argv=(Literal("tracker"),))
    with_server = other_plan(made, servers=(server,))
    if name == "tasks":
        return made, other_plan(made, tasks=tuple(replace(t, prompt=Literal("else")) for t in made.tasks))
    if name == "graders":
        return made, other_plan(made, tasks=tuple(replace(t, graders=(CONTAINS,)) for t in made.tasks))
    if name == "limits":
        return made, other_plan(made, tasks=tuple(replace(t, budget=Budget(calls=Limit(soft=9))) for t in made.tasks))
    if name == "fixtures":
        files = [(FileDigest(path="a.db", sha256=digit * 64),) for digit in "12"]
        return other_plan(made, fixtures=files[0]), other_plan(made, fixtures=files[1])
    if name == "models":
        return made, other_plan(made, models=tuple(replace(m, max_tokens=9) for m in made.models))
    if name == "hosts":
        return made, other_plan(made, hosts=tuple(replace(h, max_turns=9) for h in made.hosts))
    if name == "identities":
        env = (EnvironmentVariable("USER", Literal("ann")),)
        return with_server, other_plan(made, servers=(replace(server, env=env),))
    if name == "network":
        return with_server, other_plan(made, servers=(replace(server, network=("all",)),))
    assert name == "timeouts"
    return with_server, other_plan(made, servers=(replace(server, timeout=1.0),))


@pytest.mark.parametrize(
    "name", ["tasks", "graders", "limits", "fixtures", "models", "hosts", "identities", "network", "timeouts"]
)
def test_what_should_be_equal_and_is_not_refuses_by_name(name: str) -> None:
    plans = _unequal(name)
    sides = [sided(made, ran(made, {"sonnet/mcp": 4}), each) for made, each in zip(plans, ("new", "old"), strict=True)]
    found = compare_runs(*sides)
    assert (found.verdict, found.exit_code) == ("refused", 2)
    assert [(each.name, each.accepted) for each in found.differences] == [(name, False)]
    assert f"--accept {name}" in render(found)
    accepted = compare_runs(*sides, accepted=(name,))
    assert (accepted.verdict, accepted.cause) == ("none shown", name)


def test_equal_runs_are_not_refused() -> None:
    found = both(4, 4)
    assert (found.differences, found.changes, found.cause) == ((), (), "")


def test_several_accepted_differences_name_no_cause() -> None:
    made = solo()
    files = (FileDigest(path="a.db", sha256="1" * 64),)
    old = other_plan(made, fixtures=files, hosts=tuple(replace(h, max_turns=9) for h in made.hosts))
    sides = sided(made, ran(made, {"sonnet/mcp": 4})), sided(old, ran(old, {"sonnet/mcp": 4}), "old")
    assert [each.name for each in compare_runs(*sides).differences] == ["fixtures", "hosts"]
    assert compare_runs(*sides, accepted=("fixtures",)).verdict == "refused"
    assert compare_runs(*sides, accepted=("fixtures", "hosts")).cause == ""


def connected(tools: list[ToolDefinition], version: str = "1", status: Any = "ok") -> tuple[ConnectRecord, ...]:
    return (
        ConnectRecord(
            id="connect:tracker", key="k", server="tracker", status=status, version=version, tools=tuple(tools)
        ),
    )


def with_server(made: Any, **changes: Any) -> Any:
    return made.model_copy(update={"servers": (Server("tracker", argv=(Literal("tracker"),), **changes),)})


LIST = ToolDefinition("tracker", "list_issues", description="List issues.")


def test_a_catalogue_that_changes_with_the_server_is_what_is_under_test() -> None:
    made = with_server(solo())
    new = sided(made, ran(made, {"sonnet/mcp": 4}), connects=connected([replace(LIST, description="Issues.")], "2"))
    old = sided(made, ran(made, {"sonnet/mcp": 4}), "old", connects=connected([LIST], "1"))
    found = compare_runs(new, old)
    assert [(change.component, change.server) for change in found.changes] == [
        ("version", "tracker"),
        ("descriptions", "tracker"),
    ]
    assert (found.verdict, found.cause) == ("insufficient data", "the server")
    assert [(c.text, c.component, c.word) for c in found.components] == [
        ("tool selection is no worse", "descriptions", "NOT DECIDED")
    ]


def test_a_catalogue_that_changes_under_the_same_server_refuses() -> None:
    made = with_server(solo())
    new = sided(made, ran(made, {"sonnet/mcp": 4}), connects=connected([replace(LIST, description="Issues.")]))
    old = sided(made, ran(made, {"sonnet/mcp": 4}), "old", connects=connected([LIST]))
    found = compare_runs(new, old)
    assert [(each.name, each.text) for each in found.differences] == [("catalogue", "tracker: list_issues")]


def measured(records: Any, valid: bool) -> list[Any]:
    """All calls of each trial fit their schemas, or none does."""
    return [
        record.model_copy(
            update={"calls": tuple(replace(call, schema_valid=valid) for call in record.calls if call.actor == "agent")}
        )
        for record in records
    ]


@pytest.mark.parametrize(("valid", "word", "verdict"), [(True, "PASS", "none shown"), (False, "FAIL", "regression")])
def test_a_changed_description_gates_tool_selection(valid: bool, word: str, verdict: str) -> None:
    made = with_server(solo())
    records = ran(made, {"sonnet/mcp": 4})
    new = sided(made, measured(records, valid), connects=connected([replace(LIST, description="Issues.")], "2"))
    old = sided(made, measured(records, True), "old", connects=connected([LIST], "1"))
    found = compare_runs(new, old)
    assert [(c.component, c.word) for c in found.components] == [("descriptions", word)]
    assert found.verdict == verdict
    rule = "its descriptions changed, and the rule `tool selection is no worse` does not hold: "
    assert any(reason.startswith(rule) for reason in found.because) == (word == "FAIL")


@pytest.mark.parametrize(("status", "word"), [("ok", "PASS"), ("failed", "FAIL")])
def test_a_changed_authentication_gates_the_connection(status: str, word: str) -> None:
    new_plan = with_server(solo(), headers=(Header("Authorization", Literal("b")),))
    old_plan = with_server(solo(), headers=(Header("Authorization", Literal("a")),))
    records = ran(new_plan, {"sonnet/mcp": 4})
    new = sided(new_plan, records, connects=connected([LIST], status=status))
    found = compare_runs(new, sided(old_plan, records, "old", connects=connected([LIST])))
    words = {c.text: c.word for c in found.components}
    assert words == {"the servers are reached without a person": word, "nothing leaves its scope": "PASS"}


def test_a_server_that_was_not_reached_has_no_other_version() -> None:
    made = with_server(solo())
    records = ran(made, {"sonnet/mcp": 4})
    old = sided(made, records, "old", connects=connected([LIST]))
    assert compare_runs(sided(made, records, connects=connected([], "", "failed")), old).changes == ()
    (change,) = compare_runs(sided(made, records, connects=connected([LIST], "2")), old).changes
    assert change.text == "1 → 2"


def test_one_task_alone_shows_nothing_and_no_p_is_above_one() -> None:
    (reason,) = both(4, 4, 1).because
    assert reason == "sonnet/mcp: 1 independent task is too few (p cannot fall below 1)"


def test_a_changed_authentication_gates_the_scope() -> None:
    new_plan = with_server(solo(), headers=(Header("Authorization", Literal("b")),))
    old_plan = with_server(solo(), headers=(Header("Authorization", Literal("a")),))
    records = ran(old_plan, {"sonnet/mcp": 4})
    escape = Violation("scope_escape", "major", ("attempted", "blocked"))
    escaped = [records[0].model_copy(update={"violations": (escape,)}), *records[1:]]
    new = sided(new_plan, escaped, connects=connected([LIST]))
    found = compare_runs(new, sided(old_plan, records, "old", connects=connected([LIST])))
    assert {c.text: c.word for c in found.components}["nothing leaves its scope"] == "FAIL"
    assert found.verdict == "regression"


def test_a_new_critical_violation_is_a_regression() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    bad = [records[0].model_copy(update={"violations": (CRITICAL,)}), *records[1:]]
    found = compare_runs(sided(made, bad), sided(made, records, "old"))
    assert found.verdict == "regression"
    assert [(v.severity, v.trials, v.baseline_trials) for v in found.violations] == [("critical", 1, 0)]
    assert compare_runs(sided(made, records), sided(made, bad, "old")).verdict == "none shown"


def test_leads_are_new_fixed_or_seen_again() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    leads = [Lead(kind="crash", server="tracker", tool=tool, call="c1", evidence=("c1",)) for tool in ("a", "b", "c")]
    new = [records[0].model_copy(update={"leads": (leads[0], leads[1])}), *records[1:]]
    old = [records[0].model_copy(update={"leads": (leads[1], leads[2])}), *records[1:]]
    found = compare_runs(sided(made, new), sided(made, old, "old"))
    assert {(d.tool, d.direction, d.confirmed) for d in found.defects} == {
        ("a", "new", False),
        ("b", "seen again", False),
        ("c", "fixed", False),
    }
    assert found.verdict == "none shown"


def test_a_lead_of_a_task_that_could_not_be_tested_is_not_called_fixed() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    lead = Lead(kind="crash", server="tracker", tool="a", call="c1", evidence=("c1",))
    old = sided(made, [records[0].model_copy(update={"leads": (lead,)}), *records[1:]], "old")
    for letters, direction in (("yyyy", "fixed"), ("uuuu", "not tested")):
        found = compare_runs(
            sided(made, ran(made, {"sonnet/mcp": 4}, by_task={records[0].id.rpartition("#")[0]: letters})), old
        )
        assert [each.direction for each in found.defects] == [direction]


def test_a_run_with_much_untested_is_too_little_data() -> None:
    made = solo()
    short = {"t00@sonnet/mcp": "uuuu", "t01@sonnet/mcp": "uuuu"}
    one = sided(made, ran(made, {"sonnet/mcp": 4}, by_task=short))
    found = compare_runs(one, sided(made, ran(made, {"sonnet/mcp": 4}), "old"))
    assert (found.verdict, found.exit_code) == ("insufficient data", 4)
    assert "could not be tested" in found.because[0]


def test_what_was_gained_on_tasks_that_could_be_looked_at_is_held_against_the_others() -> None:
    split = [replace(t, split="heldout") if n % 2 else t for n, t in enumerate(tasks(20))]
    made = armed(split, arms=("mcp",), comparisons=())

    def records(train: str, held: str) -> Any:
        found = ran(made, {}, by_task={f"{t.name}@sonnet/mcp": held if t.split == "heldout" else train for t in split})
        return [r.model_copy(update={"split": "heldout" if int(r.task[1:]) % 2 else "train"}) for r in found]

    one, old = sided(made, records("yyyy", "yynn")), sided(made, records("ynnn", "yynn"), "old")
    (gap,) = compare_runs(one, old).overfit
    assert (gap.train, gap.heldout, gap.value) == (0.75, 0.0, 0.75)
    assert gap.low is not None and gap.low < 0.75 < gap.high
    assert gap.p is not None and gap.p < 0.001
    alike, before = sided(made, records("yyyy", "yyyy")), sided(made, records("yynn", "yynn"), "old")
    assert [gap.p for gap in compare_runs(alike, before).overfit] == [1.0]


def test_runs_of_two_suites_are_not_compared() -> None:
    made = solo()
    other = made.model_copy(update={"suite": made.suite.model_copy(update={"name": "else"})})
    records = ran(made, {"sonnet/mcp": 4})
    found = compare_runs(sided(made, records), sided(other, records, "old"), accepted=("tasks",))
    assert found.verdict == "refused"
    assert "two suites" in found.because[0]


def test_only_one_side_played_back_refuses() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    found = compare_runs(sided(made, records), replace(sided(made, records, "old"), repeats=3))
    assert [each.name for each in found.differences] == ["repeats"]


def test_sandboxes_that_differ_are_said() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    sheets: list[Manifest] = [manifest().model_copy(update={"sandbox": box}) for box in ("bubblewrap", "none")]
    one, two = sided(made, records, manifest=sheets[0]), sided(made, records, "old", manifest=sheets[1])
    assert compare_runs(one, two).notes == ("sandboxes differ: bubblewrap and none",)


def gated(asked: Any, now: int, before: int, **changes: Any) -> Any:
    made = armed(tasks(10), arms=("mcp",), comparisons=(), rules=[asked])
    old = sided(solo(), ran(solo(), {"sonnet/mcp": before}), "main")
    return build(made, ran(made, {"sonnet/mcp": now}, **changes), baselines={"main": old}).scorecard.gate


@pytest.mark.parametrize(("now", "before", "word"), [(4, 1, "PASS"), (1, 4, "FAIL"), (4, 4, "PASS")])
def test_a_gate_on_regressions_since_a_baseline(now: int, before: int, word: str) -> None:
    found = gated(rule("regressions == 0", "regressions", "==", 0.0, baseline="main"), now, before)
    assert (found.word, found.rules[0].baseline) == (word, "main")


@pytest.mark.parametrize(
    ("metric", "bound", "now", "before", "word"),
    [
        ("task_success", None, 3, 4, "FAIL"),
        ("task_success", None, 4, 3, "PASS"),
        ("task_success", "low", 4, 1, "PASS"),
        ("pass^2", None, 4, 2, "PASS"),
        ("pass^2", "low", 2, 4, "FAIL"),
        ("calls.p95", None, 4, 4, "PASS"),
        ("calls.p95", "low", 4, 4, "NOT DECIDED"),
    ],
)
def test_a_metric_with_a_baseline_is_its_change(metric: str, bound: Any, now: int, before: int, word: str) -> None:
    asked = rule(f"{metric} >= 0", metric, ">=", 0.0, baseline="main", bound=bound)
    assert gated(asked, now, before).word == word


@pytest.mark.parametrize("baselines", [{}, {"main": "it is gone"}])
def test_a_gate_on_a_baseline_that_is_not_there_is_not_decided(baselines: Any) -> None:
    made = armed(
        tasks(6),
        arms=("mcp",),
        comparisons=(),
        rules=[rule("regressions == 0", "regressions", "==", 0.0, baseline="main")],
    )
    found = build(made, ran(made, {"sonnet/mcp": 4}), baselines=baselines).scorecard
    assert (found.gate.word, found.exit_code) == ("NOT DECIDED", 4)


def test_a_gate_on_a_baseline_with_other_graders_is_not_decided() -> None:
    asked = rule("regressions == 0", "regressions", "==", 0.0, baseline="main")
    made = armed(tasks(6), arms=("mcp",), comparisons=(), rules=[asked])
    other = made.model_copy(update={"tasks": tuple(replace(t, graders=(CONTAINS,)) for t in made.tasks)})
    old = sided(other, ran(other, {"sonnet/mcp": 4}), "main")
    (result,) = build(made, ran(made, {"sonnet/mcp": 4}), baselines={"main": old}).scorecard.gate.rules
    assert result.word == "NOT DECIDED"
    assert "differ in graders" in result.reason


def test_a_gate_with_a_baseline_looks_at_what_changed_too() -> None:
    asked = rule("regressions == 0", "regressions", "==", 0.0, baseline="main")
    made = with_server(armed(tasks(10), arms=("mcp",), comparisons=(), rules=[asked]))
    records = ran(made, {"sonnet/mcp": 4})
    old = sided(made, measured(records, True), "main", connects=connected([LIST], "1"))
    new = connected([replace(LIST, input_schema={"type": "object", "properties": {}})], "2")
    found = build(made, measured(records, False), new, baselines={"main": old}).scorecard.gate
    assert [(r.text, r.component, r.word) for r in found.rules[1:]] == [
        ("tool selection is no worse", "schemas", "FAIL")
    ]
    assert found.word == "FAIL"


@pytest.mark.parametrize(("before", "names"), [("m-2026-10", ["models"]), ("m-2026-11", [])])
def test_another_model_behind_the_same_name_refuses(before: str, names: list[str]) -> None:
    made = solo()

    def answered(by: str) -> Any:
        records = ran(made, {"sonnet/mcp": 4})
        return [r.model_copy(update={"agent": r.agent.model_copy(update={"provider_model": by})}) for r in records]

    found = compare_runs(sided(made, answered("m-2026-11")), sided(made, answered(before), "old"))
    assert [each.name for each in found.differences] == names


def test_trials_that_never_began_were_answered_by_nobody() -> None:
    made = solo()
    records = ran(made, {"sonnet/mcp": 4})
    unasked = {"agent": records[0].agent.model_copy(update={"provider_model": "canned.yaml"}), "turns": ()}
    sides = [sided(made, records), sided(made, [r.model_copy(update=unasked) for r in records], "old")]
    assert compare_runs(*sides).differences == ()


def test_runs_in_the_wrong_order_are_asked_about() -> None:
    made = solo()

    def on(day: int) -> Any:
        records = ran(made, {"sonnet/mcp": 4})
        at = f"2031-01-0{day}T00:00:00Z"
        return [r.model_copy(update={"timing": r.timing.model_copy(update={"started_at": at})}) for r in records]

    early, late = sided(made, on(1), "a"), sided(made, on(2), "b")
    assert compare_runs(late, early).notes == ()
    assert compare_runs(early, late).notes == ("a began before b: are they meant the other way round?",)
