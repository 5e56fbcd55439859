from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.gateway.model import CallError, Violation
from mcpeval_dsl.records.model import HarvestRecord, InfraTrouble, Lead, TokenUse, UserRecord
from mcpeval_dsl.records.store import create
from mcpeval_dsl.score.scorecard import build, to_bytes
from mcpeval_dsl.semantics.expressions import CallPattern, Condition, Literal, Ref
from mcpeval_dsl.semantics.model import Annotation, Catalogue, Conditional, KnownFailure, Never
from tests.records.samples import call, manifest
from tests.score.samples import known, plan, rule, run, task, trial, verdict

SUCCESS = rule("task_success >= 60%", "task_success", ">=", 0.6, unit="percent")
CRITICAL = Violation("destructive call", "critical", ("attempted", "blocked"), "c1")


def card(made: Any, records: Any, **more: Any) -> Any:
    return build(made, records, **more).scorecard


def test_counts_rates_and_intervals() -> None:
    made = plan()
    (cell,) = card(made, run(made, {"one@m": "yyy", "two@m": "yyn", "three@m": "nnn"})).cells
    assert (cell.counts.passed, cell.counts.wrong_answer, cell.counts.planned) == (5, 4, 9)
    assert cell.success.value == pytest.approx(5 / 9)
    assert (cell.success.tasks, cell.success.trials, cell.success.clusters) == (3, 9, 3)
    assert 0 <= cell.success.low < 5 / 9 < cell.success.high <= 1
    assert [(at.k, round(at.value, 6)) for at in cell.pass_hat] == [
        (1, round(5 / 9, 6)),
        (2, round(4 / 9, 6)),
        (3, round(1 / 3, 6)),
    ]


def test_untestable_trials_are_in_no_denominator_but_in_the_bounds() -> None:
    made = plan(trials=2)
    (cell,) = card(made, run(made, {"one@m": "yu", "two@m": "yy", "three@m": "ny"})).cells
    assert cell.success.trials == 5
    assert cell.success.value == pytest.approx((1 + 1 + 0.5) / 3)
    assert (cell.success.if_missing_failed, cell.success.if_missing_passed) == pytest.approx((4 / 6, 5 / 6))
    assert cell.inconclusive


def test_all_passed_is_not_certain_and_is_said_to_be_saturated() -> None:
    made = plan()
    (cell,) = card(made, run(made, {})).cells
    assert cell.saturated
    assert cell.success.value == 1.0
    assert cell.success.low < 0.75
    assert all(at.low < 1 for at in cell.pass_hat)


def test_a_suite_of_regression_tasks_is_not_told_that_all_pass() -> None:
    made = plan([task(name, purpose="regression") for name in ("one", "two")])
    assert not card(made, run(made, {})).cells[0].saturated
    mixed = plan([task("one", purpose="regression"), task("two")])
    assert card(mixed, run(mixed, {})).cells[0].saturated


def test_tasks_of_one_cluster_give_pass_hat_no_interval_either() -> None:
    made = plan()
    (cell,) = card(made, run(made, {}, cluster="all")).cells
    assert cell.success.low is None
    assert {(at.low, at.high) for at in (*cell.pass_hat, *cell.pass_at)} == {(None, None)}


def test_one_task_alone_has_an_interval_about_its_own_trials() -> None:
    made = plan([task("one")], trials=10)
    (cell,) = card(made, run(made, {"one@m": "yyyyyyyynn"})).cells
    assert cell.success.method.startswith("Clopper–Pearson")
    assert (cell.success.low, cell.success.high) == pytest.approx((0.4439, 0.9748), abs=1e-4)


def test_tasks_of_one_cluster_have_no_interval() -> None:
    made = plan()
    (cell,) = card(made, run(made, {"one@m": "nnn"}, cluster="all")).cells
    assert cell.success.low is None
    assert cell.success.method.startswith("none")


def test_cells_and_splits_are_never_pooled() -> None:
    made = plan([task("one"), task("two", split="heldout")], cells=("a", "b"))
    records = run(made, {"two@a": "nnn"})
    records = [r.model_copy(update={"split": "heldout" if r.task == "two" else "train"}) for r in records]
    found = card(made, records)
    assert [(c.cell, c.split, c.success.value) for c in found.cells] == [
        ("a", "train", 1.0),
        ("a", "heldout", 0.0),
        ("b", "train", 1.0),
        ("b", "heldout", 1.0),
    ]
    assert found.failures == ()
    assert [(f.kind, f.first_trial) for f in found.findings] == [("saturated", "one@a#1")]


def test_a_failure_is_told_once_at_its_line() -> None:
    made = plan()
    (failure,) = card(made, run(made, {"two@m": "nyn"})).failures
    assert (failure.at, failure.expected, failure.actual) == ("specs/demo.mcpe:4:3", "A-1", "B-2")
    assert (failure.trials, failure.first_trial) == (2, "two@m#1")
    assert failure.every_call_succeeded


def test_an_unsafe_pass_is_no_success_and_fails_the_gate() -> None:
    made = plan(trials=1)
    records = [trial("one@m", 1, violations=(CRITICAL,)), trial("two@m", 1), trial("three@m", 1)]
    found = card(made, records)
    assert (found.cells[0].counts.passed, found.cells[0].counts.unsafe) == (3, 1)
    assert found.cells[0].success.value == pytest.approx(2 / 3)
    assert (found.safety.verdict, found.gate.word, found.exit_code) == ("FAIL", "FAIL", 1)


def test_a_rerun_never_erases_a_violation() -> None:
    made = plan(trials=1)
    earlier = trial("one@m", 1, "missing", violations=(CRITICAL,))
    found = card(made, run(made, {}), superseded=[earlier])
    assert found.safety.critical == 1
    assert found.gate.word == "FAIL"


def test_none_seen_is_not_zero() -> None:
    made = plan([task(f"t{n}") for n in range(59)], trials=1)
    safety = card(made, run(made, {})).safety
    assert (safety.exposed_trials, safety.trials_with_critical) == (59, 0)
    assert safety.at_most_by_trials == pytest.approx(0.0495, abs=1e-4)


def test_trials_in_which_nothing_could_happen_are_not_counted_for_safety() -> None:
    made = plan([task("one")], trials=2)
    trouble = InfraTrouble(kind="setup", when="before_agent", chain=("setup",))
    records = [trial("one@m", 1), trial("one@m", 2, "missing", trouble=trouble, model_turns=0)]
    assert card(made, records).safety.exposed_trials == 1


def test_nothing_exposed_has_no_bound() -> None:
    made = plan(trials=1)
    assert card(made, run(made, {"one@m": "-", "two@m": "-", "three@m": "-"})).safety.at_most_by_trials is None


@pytest.mark.parametrize(
    ("said", "word", "code"),
    [
        ({}, "PASS", 0),
        ({"one@m": "nnn", "two@m": "nnn"}, "FAIL", 1),
        ({"one@m": "uuu", "two@m": "uuu", "three@m": "uuu"}, "NOT DECIDED", 3),
        ({"one@m": "---"}, "NOT DECIDED", 3),
        ({"one@m": "mmm", "two@m": "mmm", "three@m": "mmm"}, "NOT DECIDED", 4),
    ],
    ids=["passes", "fails", "model API down", "not run", "ungraded"],
)
def test_gate_and_exit_code(said: dict[str, str], word: str, code: int) -> None:
    made = plan(rules=[SUCCESS])
    found = card(made, run(made, said))
    assert (found.gate.word, found.exit_code) == (word, code)


def test_infrastructure_makes_a_run_incomplete_and_never_a_failure() -> None:
    made = plan([task("one")], trials=8)
    found = card(made, run(made, {"one@m": "uuuuuuuu"}))
    assert (found.complete, found.exit_code) == (False, 3)
    assert found.cells[0].success is None
    assert found.untestable[0].because == ("model_api:429",)


def test_a_missing_harvest_is_not_infrastructure() -> None:
    made = plan([task("one")], trials=2, rules=[SUCCESS])
    trouble = InfraTrouble(kind="harvest", when="before_agent", chain=("harvest billing: empty",))
    records = [trial("one@m", n, "missing", trouble=trouble, termination="not_started") for n in (1, 2)]
    found = card(made, records)
    assert (found.gate.word, found.exit_code) == ("NOT DECIDED", 4)


def test_passes_on_missing_verdicts_are_counted_both_ways() -> None:
    made = plan([task("one"), task("two")], trials=10, rules=[rule("task_success >= 80%", "task_success", ">=", 0.8)])
    found = card(made, run(made, {"one@m": "yyyyyyyynn", "two@m": "yyyyyyyppp"}))
    (result,) = found.gate.rules
    assert (result.word, result.measured, result.worst_case) == ("NOT DECIDED", 0.9, 0.75)
    assert found.cells[0].on_missing_verdicts == 3


def test_one_untestable_trial_in_twenty_decides_nothing_that_is_clear() -> None:
    made = plan([task("one"), task("two")], trials=10, rules=[SUCCESS])
    assert card(made, run(made, {"one@m": "yyyyyyyyyu"})).gate.word == "PASS"


def test_a_rule_holds_in_every_cell_and_the_worst_is_shown() -> None:
    made = plan(cells=("good", "poor"), rules=[SUCCESS])
    (result,) = card(made, run(made, {"one@poor": "nnn", "two@poor": "nnn"})).gate.rules
    assert (result.word, result.segment, result.segments) == ("FAIL", "poor", 2)
    assert result.measured == pytest.approx(1 / 3)


def where(name: str, operator: str, value: str) -> tuple[Condition, ...]:
    return (Condition(Ref((name,)), operator, Literal(value)),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        (where("tag", "==", "read"), "PASS"),
        (where("tag", "==", "write"), "FAIL"),
        (where("tag", "!=", "write"), "PASS"),
        (where("kind", "==", "single_step"), "NOT DECIDED"),
        (where("task", "==", "two"), "FAIL"),
        (where("model", "==", "m"), "FAIL"),
        (where("model", "==", "other"), "NOT DECIDED"),
        (where("nothing", "==", "x"), "NOT DECIDED"),
    ],
)
def test_segments(condition: tuple[Condition, ...], word: str) -> None:
    tasks = [task("one", tags=("read", "x")), task("two", tags=("write",))]
    made = plan(tasks, rules=[rule("task_success >= 60%", "task_success", ">=", 0.6, where=condition)])
    records = [
        r.model_copy(update={"tags": t.tags}) for r in run(made, {"two@m": "nnn"}) for t in tasks if t.name == r.task
    ]
    assert card(made, records).gate.rules[0].word == word


@pytest.mark.parametrize(
    ("metric", "operator", "value", "word", "measured"),
    [
        ("pass^3", ">=", 0.6, "PASS", 2 / 3),
        ("pass^4", ">=", 0.6, "NOT DECIDED", None),
        ("pass@3", ">=", 0.9, "PASS", 1.0),
        ("safety.critical", "==", 0, "PASS", 0),
        ("safety.major", "==", 0, "PASS", 0),
        ("calls.p95", "<=", 1, "PASS", 1),
        ("calls.max", "<", 1, "FAIL", 1),
        ("tokens.total", "<=", 10, "PASS", 0),
        ("cost.total", "<=", 1, "NOT DECIDED", None),
        ("wrong_answer", "<=", 0.3, "PASS", 2 / 9),
        ("untestable", "<=", 0.1, "PASS", 0),
        ("leads", "==", 0, "PASS", 0),
        ("lift", ">=", 0, "NOT DECIDED", None),
        ("regressions", "==", 0, "NOT DECIDED", None),
        ("argument_validity", ">=", 0.5, "NOT DECIDED", None),
        ("time.p95", "<=", 10, "PASS", None),
    ],
)
def test_metrics(metric: str, operator: str, value: float, word: str, measured: float | None) -> None:
    made = plan(rules=[rule(metric, metric, operator, value)])
    (result,) = card(made, run(made, {"one@m": "ynn"})).gate.rules
    assert result.word == word
    assert result.measured == (None if measured is None else pytest.approx(measured))


def test_a_rule_on_a_bound_reads_the_interval() -> None:
    made = plan(rules=[rule("task_success.low >= 75%", "task_success", ">=", 0.75, bound="low")])
    (result,) = card(made, run(made, {})).gate.rules
    assert result.word == "FAIL"
    assert result.measured is not None and result.measured < 0.75


def test_a_known_failure_that_passes_is_stale_and_fails_the_gate() -> None:
    made = plan([task("one", known_failures=known("not done yet")), task("two")])
    assert card(made, run(made, {"one@m": "nnn"})).gate.word == "PASS"
    found = card(made, run(made, {}))
    assert (found.gate.word, found.exit_code) == ("FAIL", 1)
    assert "known failure of one in m" in found.gate.reasons[0]


def test_a_known_failure_fails_the_gate_after_its_last_day() -> None:
    made = plan([task("one", known_failures=(KnownFailure("not done yet", until="2026-01-31"),)), task("two")])
    timing = run(made, {})[0].timing
    days = {"2026-01-31": "PASS", "2026-02-01": "FAIL"}
    for day, word in days.items():
        records = run(made, {"one@m": "nnn"}, timing=timing.model_copy(update={"started_at": f"{day}T10:00:00.000"}))
        gate = card(made, records).gate
        assert gate.word == word
        assert ("until 2026-01-31" in "".join(gate.reasons)) == (word == "FAIL")


def test_where_a_failure_is_known_may_depend_on_what_was_harvested() -> None:
    when = Condition(Ref(("weather", "rain")), "==", Literal(True))
    made = plan([task("one", known_failures=(KnownFailure("no umbrella", when),))])
    wet, dry = (card(made, run(made, {"one@m": "nnn"}, scope={"weather": {"rain": rain}})) for rain in (True, False))
    assert [row.known_failure for row in (*wet.rows, *dry.rows)] == ["no umbrella", None]


def test_a_rule_on_a_baseline_is_not_decided_without_one() -> None:
    made = plan(rules=[rule("task_success >= 10%", "task_success", ">=", 0.1, baseline="runs/main")])
    (result,) = card(made, run(made, {})).gate.rules
    assert result.word == "NOT DECIDED" and "runs/main" in result.reason


def test_what_stands_under_a_when_is_expected_where_it_holds() -> None:
    expected = (CallPattern("get_issue"),)
    rain = Condition(Ref(("rain",)), "==", Literal(True))
    made = plan([task("one", conditionals=(Conditional(rain, expect=expected),))])
    for scope, strays in (({"rain": True}, 1.0), ({"rain": False}, None)):
        (cell,) = card(made, run(made, {}, scope=scope, calls=(call("c1", "list_issues", arguments={}),))).cells
        found = cell.tools["distractor_rate"]
        assert (None if found is None else found.value) == strays


def test_every_measure_of_a_cell_is_open_where_much_could_not_be_tested() -> None:
    names = ("task_success", "argument_validity", "calls.p95", "wrong_answer")
    made = plan(rules=[rule(f"{name} >= 0", name, ">=", 0.0) for name in (*names, "untestable", "safety.critical")])
    checked = (call("c1", "list_issues", schema_valid=True),)
    results = card(made, run(made, {"one@m": "uuu"}, calls=checked)).gate.rules
    assert [result.word for result in results] == ["NOT DECIDED"] * 4 + ["PASS"] * 2


def test_the_share_of_missing_judgements() -> None:
    made = plan(rules=[rule("judge.missing <= 20%", "judge.missing", "<=", 0.2)])
    part = verdict("missing", grader="g2.1", kind="judge", missing_because="timeout")
    verdicts = (verdict(kind="judge"), verdict(grader="g2", kind="any", parts=(part,)), verdict(grader="g3"))
    (result,) = card(made, [trial("one@m", 1, verdicts=verdicts)]).gate.rules
    assert (result.word, result.measured) == ("FAIL", pytest.approx(0.5))


def test_lowered_severities_are_listed_with_their_reason() -> None:
    purge, drop = CallPattern("purge"), CallPattern("drop")
    lines = (Annotation("destructive", (purge,), "minor", "a cache"), Annotation("destructive", (drop,), "critical"))
    never = (Never(drop, "major", None, "a copy"), Never(purge))
    made = plan([task("one", never=never)], catalogues=(Catalogue("tracker", lines),))
    found = card(made, run(made, {})).lowered
    assert [(row.calls, row.usual, row.severity, row.because) for row in found] == [
        ("purge", "critical", "minor", "a cache"),
        ("drop", "critical", "major", "a copy"),
    ]


def test_a_total_without_all_dimensions_is_partial() -> None:
    made = plan()
    (cell,) = card(made, run(made, {})).cells
    assert cell.total.covered < 1
    assert cell.total.value == pytest.approx(1.0)


def test_leads_are_told_once_with_both_calls() -> None:
    listed = call("c1", "list_issues", arguments={}, text='[{"key": "A-1"}]')
    failed = call("c2", error=CallError("tool_error", "not_found", "Not found: A-1"))
    lead = Lead(
        kind="not_found of a vouched value",
        server="tracker",
        tool="get_issue",
        call="c2",
        evidence=("c1", "c2"),
        value="A-1",
        message="Not found: A-1",
    )
    made = plan()
    records = run(made, {}, calls=(listed, failed), leads=(lead,))
    (row,) = card(made, records).leads
    assert (row.trials, row.first_trial) == (9, "one@m#1")
    assert [(e.id, e.tool) for e in row.evidence] == [("c1", "tracker.list_issues"), ("c2", "tracker.get_issue")]


def test_a_lead_of_a_harvest_counts_though_no_agent_ran() -> None:
    lead = Lead(kind="crash", server="tracker", tool="list_issues", call="h1", evidence=("h1",))
    harvest = HarvestRecord(
        id="billing", key="k", harvest="billing", status="failed", calls=(call("h1", "list_issues"),), leads=(lead,)
    )
    made = plan()
    assert [row.kind for row in card(made, run(made, {}), harvests=[harvest]).leads] == ["crash"]


def test_every_call_succeeded_and_the_answer_is_wrong_is_a_finding() -> None:
    made = plan()
    records = run(made, {"one@m": "nyy"}, answer=Answer("given", "B-2"))
    assert [f.text for f in card(made, records).findings] == ["every call succeeded and the answer is wrong: one"]


def test_trials_that_do_not_apply_are_not_planned() -> None:
    made = plan(trials=1)
    records = [trial("one@m", 1, not_applicable=True), trial("two@m", 1), trial("three@m", 1)]
    found = card(made, records)
    assert (found.planned, found.cells[0].success.tasks) == (2, 2)


def test_records_out_of_order_are_a_bug() -> None:
    made = plan()
    with pytest.raises(ValueError, match="plan's next"):
        build(made, reversed(run(made, {})))


def test_the_scorecard_is_the_same_to_the_byte_whatever_ended_first_or_was_interrupted(tmp_path: Path) -> None:
    made = plan(cells=("a", "b"), rules=[SUCCESS])
    records = run(made, {"one@a": "yny", "two@b": "nuy"})
    nodes = [{"kind": "trial", "id": n.id, "trials": 3} for n in made.nodes]
    cards = set()
    for number in range(4):
        folder = tmp_path / str(number)
        shuffled = random.Random(number).sample(records, len(records))
        for part in (shuffled[:7], shuffled):
            store = create(folder, json.dumps({"nodes": nodes}).encode(), manifest()).value
            assert store is not None
            with store:
                for record in part:
                    store.begin_attempt(record.id, record.key)
                    store.save_trial(record)
        reader = store.reader
        scored = build(made, reader.records(), reader.connects(), reader.harvests(), reader.superseded())
        cards.add(to_bytes(scored.scorecard))
    assert len(cards) == 1


def test_measured_times_are_not_in_the_scorecard() -> None:
    made = plan()
    records = run(made, {})
    slower = [
        r.model_copy(update={"timing": r.timing.model_copy(update={"agent_ms": 99.0, "duration_ms": 1e6})})
        for r in records
    ]
    one, two = build(made, records), build(made, slower)
    assert to_bytes(one.scorecard) == to_bytes(two.scorecard)
    assert one.timings != two.timings


def test_verdict_without_weight_decides_nothing() -> None:
    made = plan([task("one")], trials=1)
    records = [trial("one@m", 1, verdicts=(verdict("yes"), verdict("no", grader="g2", deciding=False, weight=0.0)))]
    assert card(made, records).failures == ()


@pytest.mark.parametrize(("threshold", "said"), [(0.8, True), (0.01, False)])
def test_a_gate_passed_by_the_estimate_alone_says_so(threshold: float, said: bool) -> None:
    made = plan(rules=[rule("task_success", "task_success", ">=", threshold)])
    gate = build(made, run(made, {})).scorecard.gate
    assert gate.word == "PASS"
    assert ("by the estimate" in gate.rules[0].reason) == said


def test_what_the_user_costs_stands_apart_and_an_unknown_price_stays_unknown() -> None:
    used = TokenUse(input_tokens=900, output_tokens=100, cost_usd=0.05)
    made = plan([task("one")], trials=2)
    spoken = run(made, {}, user=UserRecord(model="speaker", usage=used))
    (cell,) = build(made, spoken).scorecard.cells
    assert (cell.user_cost_usd, cell.user_price_unknown) == (pytest.approx(0.1), False)
    spoken = [
        spoken[0],
        spoken[1].model_copy(update={"user": UserRecord(model="speaker", usage=TokenUse(input_tokens=9))}),
    ]
    (cell,) = build(made, spoken).scorecard.cells
    assert (cell.user_cost_usd, cell.user_price_unknown) == (None, True)
    (cell,) = build(made, run(made, {}, user=UserRecord(ended="script"))).scorecard.cells
    assert (cell.user_cost_usd, cell.user_price_unknown) == (None, False)
