from __future__ import annotations

import math
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import Violation
from mcpeval_dsl.score.scorecard import build
from mcpeval_dsl.semantics.expressions import Condition, Literal, Ref
from mcpeval_dsl.semantics.model import Comparison
from tests.score.arms import LIFT, armed, natively, ran, tasks
from tests.score.samples import rule

BEST = {"sonnet/mcp": 4, "sonnet/cli": 1}


def comparison(made: Any, records: Any) -> Any:
    (found,) = build(made, records).scorecard.comparisons
    return found


def test_lift_is_paired_by_task_for_each_tag_too() -> None:
    made = armed(tasks(10))
    found = comparison(made, ran(made, BEST))
    assert [(row.group, row.difference.tasks) for row in found.rows] == [("", 10), ("read", 10), ("write", 5)]
    row = found.rows[0]
    assert (row.agent, row.treatment.value, row.baseline.value) == ("sonnet", 1.0, 0.25)
    assert row.difference.value == pytest.approx(0.75)
    assert row.difference.low < 0.75 < row.difference.high
    assert row.difference.p == pytest.approx(2 / 2**10)
    assert row.difference.word == "better"
    assert found.rows[2].difference.word == "insufficient data"


def test_agents_are_never_pooled() -> None:
    made = armed(tasks(8), agents=("sonnet", "opus"))
    found = comparison(made, ran(made, BEST | {"opus/mcp": 1, "opus/cli": 4}))
    words = {row.agent: row.difference.word for row in found.rows if not row.group}
    assert words == {"sonnet": "better", "opus": "worse"}


def test_an_answer_over_its_call_budget_is_still_right_for_lift_and_no_success_for_compare() -> None:
    other = Comparison("compare", "mcp", "cli")
    made = armed(tasks(8), comparisons=(LIFT, other))
    over = ran(made, {"sonnet/mcp": 4, "sonnet/cli": 4}, calls={"sonnet/mcp": 9})
    from mcpeval_dsl.records.model import BudgetUse
    from tests.score.samples import graded

    over = [graded(record.model_copy(update={"budget": BudgetUse(calls_soft=4)})) for record in over]
    lift, compare = build(made, over).scorecard.comparisons
    assert lift.rows[0].difference.value == 0.0
    assert compare.rows[0].difference.value == -1.0


def test_a_critical_violation_takes_the_right_answer_away() -> None:
    made = armed(tasks(8))
    critical = Violation("destructive call", "critical", ("attempted", "blocked"), "c1")
    records = [
        record.model_copy(update={"violations": (critical,)}) if record.arm == "mcp" else record
        for record in ran(made, {"sonnet/mcp": 4, "sonnet/cli": 4})
    ]
    assert comparison(made, records).rows[0].difference.value == -1.0


def test_use_of_the_server_and_native_tools_stand_beside_the_lift() -> None:
    made = armed(tasks(8))
    records = [natively(r) if r.arm == "cli" else r for r in ran(made, BEST)]
    found = comparison(made, records)
    assert [(arm.member, arm.called_server, arm.mcp_use, arm.tools) for arm in found.arms] == [
        ("mcp", 32, 1.0, ()),
        ("cli", 0, 0.0, ("shell",)),
    ]


def test_a_treatment_that_never_calls_the_server_is_said_to_prove_nothing() -> None:
    made = armed(tasks(8))
    made = made.model_copy(update={"arms": (_arm("mcp", servers=("tracker",)), _arm("cli"))})
    found = comparison(made, [natively(record) for record in ran(made, BEST)])
    assert found.arms[0].mcp_use == 0.0
    assert any("never called the server" in note for note in found.notes)
    assert any("could reach the data without the server" in note for note in found.notes)


def _arm(name: str, **changes: Any) -> Any:
    from mcpeval_dsl.semantics.model import Arm

    return Arm(name, **changes)


def test_overheads_are_differences_of_medians_and_an_unknown_cost_stays_unknown() -> None:
    made = armed(tasks(8))
    records = ran(made, BEST, calls={"sonnet/mcp": 5, "sonnet/cli": 2})
    by_name = {each.what: each for each in comparison(made, records).rows[0].overheads}
    assert (by_name["calls"].value, by_name["calls"].low, by_name["calls"].high) == (3.0, 3.0, 3.0)
    assert (by_name["cost_usd"].value, by_name["tokens"].value) == (0.0, 300.0)
    unknown = records[3].model_copy(update={"usage": records[3].usage.model_copy(update={"cost_usd": None})})
    by_name = {each.what: each for each in comparison(made, [*records[:3], unknown, *records[4:]]).rows[0].overheads}
    assert by_name["cost_usd"].value is None
    assert by_name["cost_usd"].reason == "it is not known of 1 trial"
    assert by_name["tokens"].value == 300.0


def test_times_are_no_part_of_the_scorecard() -> None:
    made = armed(tasks(8))
    records = ran(made, BEST)
    slower = [
        record.model_copy(update={"timing": record.timing.model_copy(update={"agent_ms": 900.0})})
        if record.arm == "mcp"
        else record.model_copy(update={"timing": record.timing.model_copy(update={"agent_ms": 300.0})})
        for record in records
    ]
    one, two = build(made, records), build(made, slower)
    assert one.scorecard == two.scorecard
    assert [(time.group, time.value) for time in two.overheads] == [("", 600.0), ("read", 600.0), ("write", 600.0)]


def test_tasks_on_one_side_only_are_listed_and_left_out() -> None:
    made = armed(tasks(8))
    records = ran(made, BEST, by_task={"t00@sonnet/cli": "uuuu"})
    row = comparison(made, records).rows[0]
    assert row.only_treatment == ("t00",)
    assert (row.difference.tasks, row.difference.treatment_trials) == (7, 28)
    assert row.inconclusive


def test_no_task_on_both_sides_is_no_difference() -> None:
    made = armed(tasks(2))
    records = ran(made, BEST, by_task={"t00@sonnet/cli": "uuuu", "t01@sonnet/mcp": "uuuu"})
    row = comparison(made, records).rows[0]
    assert row.difference is None
    assert (row.only_treatment, row.only_baseline) == (("t00",), ("t01",))


def test_tasks_of_one_cluster_move_together() -> None:
    made = armed(tasks(12))
    records = [record.model_copy(update={"cluster": f"c{int(record.task[1:]) % 3}"}) for record in ran(made, BEST)]
    delta = comparison(made, records).rows[0].difference
    assert (delta.tasks, delta.clusters, delta.smallest_p) == (12, 3, 0.25)
    assert delta.word == "insufficient data"


def test_all_alike_on_both_sides_says_what_could_have_been_seen() -> None:
    made = armed(tasks(10))
    delta = comparison(made, ran(made, {"sonnet/mcp": 4, "sonnet/cli": 4})).rows[0].difference
    assert (delta.value, delta.p, delta.word, delta.detectable_from) == (0.0, 1.0, "no difference shown", "planning")
    assert delta.low < 0 < delta.high
    assert 0.2 < delta.detectable < 0.6


def test_cells_that_differ_in_more_than_the_arm_are_not_compared() -> None:
    made = armed(tasks(6), agents=("sonnet", "opus"))
    cells = tuple(cell for cell in made.cells if cell.id in ("sonnet/mcp", "opus/cli"))
    nodes = tuple(node for node in made.nodes if getattr(node, "cell", "") in ("sonnet/mcp", "opus/cli"))
    made = made.model_copy(update={"cells": cells, "nodes": nodes})
    found = comparison(made, ran(made, {"sonnet/mcp": 4, "opus/cli": 1}))
    assert found.rows == ()
    assert "no two cells differ" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "bound", "value", "word"),
    [
        ("lift >= 50%", None, 0.5, "PASS"),
        ("lift.low >= 25%", "low", 0.25, "PASS"),
        ("lift.low >= 70%", "low", 0.7, "FAIL"),
        ("lift >= 80%", None, 0.8, "FAIL"),
    ],
)
def test_a_gate_on_lift(text: str, bound: Any, value: float, word: str) -> None:
    asked = rule(text, "lift", ">=", value, unit="percent", bound=bound)
    made = armed(tasks(10), rules=[asked])
    (result,) = build(made, ran(made, BEST)).scorecard.gate.rules
    assert result.word == word
    assert result.segment == "sonnet/mcp over sonnet/cli"
    assert result.p_adjusted == pytest.approx(result.p)


def test_a_gate_on_lift_holds_in_each_agent() -> None:
    asked = rule("lift >= 0", "lift", ">=", 0.0)
    made = armed(tasks(8), agents=("sonnet", "opus"), rules=[asked])
    (result,) = build(made, ran(made, BEST | {"opus/mcp": 0, "opus/cli": 1})).scorecard.gate.rules
    assert (result.word, result.segment, result.segments) == ("FAIL", "opus/mcp over opus/cli", 2)
    assert result.p_adjusted == pytest.approx(2 * result.p)


def test_a_gate_on_lift_in_a_segment() -> None:
    only = Condition(Ref(("tag",)), "==", Literal("write"))
    asked = rule("lift >= 50% where tag == write", "lift", ">=", 0.5, where=(only,))
    made = armed(tasks(8), rules=[asked])
    odd = {f"t{n:02}@sonnet/mcp": "nnnn" for n in range(1, 8, 2)}
    (result,) = build(made, ran(made, BEST, by_task=odd)).scorecard.gate.rules
    assert (result.word, result.measured) == ("PASS", 0.75)


def test_members_named_in_the_gate_need_no_line_of_their_own() -> None:
    asked = rule("lift(mcp, cli) >= 5%", "lift", ">=", 0.05, arguments=("mcp", "cli"))
    made = armed(tasks(8), comparisons=(), rules=[asked])
    (result,) = build(made, ran(made, BEST)).scorecard.gate.rules
    assert (result.word, result.measured) == ("PASS", 0.75)


def test_missing_trials_of_either_arm_count_both_ways() -> None:
    asked = rule("lift >= 70%", "lift", ">=", 0.7)
    made = armed(tasks(20), rules=[asked], trials=4)
    records = ran(
        made, {"sonnet/mcp": 4, "sonnet/cli": 1}, by_task={"t00@sonnet/mcp": "uuuu", "t01@sonnet/cli": "uuuu"}
    )
    (result,) = build(made, records).scorecard.gate.rules
    assert result.word == "NOT DECIDED"
    assert result.worst_case < 0.7 < result.best_case


def test_holm_for_the_gate_and_benjamini_hochberg_for_the_rest() -> None:
    asked = rule("lift >= 0", "lift", ">=", 0.0)
    made = armed(tasks(8), rules=[asked])
    rows = comparison(made, ran(made, BEST)).rows
    assert [(row.group, row.difference.adjusted_by) for row in rows] == [
        ("", "Holm"),
        ("read", "Benjamini–Hochberg"),
        ("write", "Benjamini–Hochberg"),
    ]
    made = armed(tasks(8))
    assert {row.difference.adjusted_by for row in comparison(made, ran(made, BEST)).rows} == {"Benjamini–Hochberg"}


def test_the_matrix_has_groups_in_rows_and_cells_in_columns() -> None:
    made = armed(tasks(10))
    card = build(made, ran(made, BEST, by_task={"t00@sonnet/cli": "uuuu", "t01@sonnet/cli": "uuuu"})).scorecard
    assert [(entry.group, entry.cell) for entry in card.matrix] == [
        (group, cell) for group in ("", "read", "write") for cell in ("sonnet/mcp", "sonnet/cli")
    ]
    first, second = card.matrix[:2]
    assert first.difference is None
    assert (second.reference, second.difference.value) == ("sonnet/mcp", pytest.approx(-0.75))
    assert (second.tasks, second.trials, second.counts.untestable, second.inconclusive) == (8, 32, 8, True)
    assert (first.inconclusive, first.calls.median, first.cost_usd.total) == (False, 2.0, pytest.approx(0.4))
    assert all(entry.difference.adjusted_by == "Benjamini–Hochberg" for entry in card.matrix if entry.difference)


def test_a_matrix_entry_of_unknown_cost_has_none() -> None:
    made = armed(tasks(3))
    card = build(made, ran(made, BEST, cost=None)).scorecard
    assert all(entry.cost_usd is None for entry in card.matrix)


def test_a_comparison_depends_on_no_order_and_no_clock() -> None:
    made = armed(tasks(9), agents=("a", "b"))
    records = ran(made, {"a/mcp": 3, "a/cli": 1, "b/mcp": 2, "b/cli": 2})
    assert build(made, records).scorecard == build(made, records).scorecard
    assert not math.isnan(build(made, records).scorecard.comparisons[0].rows[0].difference.low)


@pytest.mark.parametrize(
    ("metric", "operator", "value", "bound", "word"),
    [
        ("overhead.calls", "<=", 3.0, None, "PASS"),
        ("overhead.calls", "<=", 2.0, None, "FAIL"),
        ("overhead.calls", "<=", 3.0, "high", "PASS"),
        ("overhead.tokens", "<=", 299.0, None, "FAIL"),
        ("overhead.cost", "<=", 0.0, None, "PASS"),
        ("overhead.time", "<=", 1.0, None, "PASS"),
    ],
)
def test_a_gate_on_an_overhead(metric: str, operator: str, value: float, bound: Any, word: str) -> None:
    asked = rule("x", metric, operator, value, bound=bound)
    made = armed(tasks(8), rules=[asked])
    (result,) = build(made, ran(made, BEST, calls={"sonnet/mcp": 5, "sonnet/cli": 2})).scorecard.gate.rules
    assert (result.word, result.measured is None) == (word, metric == "overhead.time")


def test_a_gate_on_an_overhead_that_is_not_known_is_not_decided() -> None:
    made = armed(tasks(8), rules=[rule("x", "overhead.cost", "<=", 1.0)])
    (result,) = build(made, ran(made, BEST, cost=None)).scorecard.gate.rules
    assert result.word == "NOT DECIDED"
    made = armed(tasks(8), comparisons=(), rules=[rule("x", "overhead.cost", "<=", 1.0)])
    (result,) = build(made, ran(made, BEST)).scorecard.gate.rules
    assert result.reason == "the spec has no `lift` or `compare` whose cells were run"


def test_half_right_and_half_wrong_on_both_sides_is_no_certainty() -> None:
    made = armed(tasks(6))
    words = {f"t0{n}@sonnet/{arm}": ("yyyy" if n % 2 else "nnnn") for n in range(6) for arm in ("mcp", "cli")}
    delta = comparison(made, ran(made, BEST, by_task=words)).rows[0].difference
    assert (delta.value, delta.p) == (0.0, 1.0)
    assert delta.low < -0.1 and delta.high > 0.1
