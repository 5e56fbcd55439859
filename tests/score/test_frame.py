"""The table of trials says what a walk over the records says."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.agents.model import ToolRequest, TurnRecord, Usage
from mcpeval_dsl.records.model import AgentIdentity, TrialRecord
from mcpeval_dsl.score.frame import FrameBuilder, as_if
from mcpeval_dsl.score.gather import gather
from mcpeval_dsl.score.rates import by_task, errors, rate
from mcpeval_dsl.score.scorecard import build
from mcpeval_dsl.statistics import clusters
from mcpeval_dsl.statistics.counts import design_effect, intraclass_correlation, naive_error
from tests.score.samples import plan, run, task

letters = st.lists(st.text("ynmup-", min_size=3, max_size=3), min_size=3, max_size=3)


@given(letters)
def test_a_rate_is_the_mean_over_tasks_of_what_could_be_tested(said: list[str]) -> None:
    made = plan()
    frame = gather(made, run(made, dict(zip(("one@m", "two@m", "three@m"), said, strict=True)))).frame
    shares = [
        sum(letter in "yp" for letter in some) / len(tested)
        for some in said
        if (tested := [letter for letter in some if letter in "ynp"])
    ]
    found = rate(frame, "success")
    assert (found.value if found is not None else None) == (pytest.approx(fmean(shares)) if shares else None)
    worst = [sum(letter == "y" for letter in some) / 3 for some in said]
    best = [sum(letter != "n" for letter in some) / 3 for some in said]
    if found is not None:
        assert (found.if_missing_failed, found.if_missing_passed) == pytest.approx((fmean(worst), fmean(best)))


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=12))
def test_statistics_of_counts_are_those_of_the_trials(trials: list[list[int]]) -> None:
    passed = np.array([sum(each) for each in trials])
    sizes = np.array([len(each) for each in trials])
    values = [float(x) for each in trials for x in each]
    groups = [[float(x) for x in each] for each in trials]
    naive = clusters.standard_error(values) if len(values) > 1 else None
    for found, expected in (
        (naive_error(passed, sizes), naive),
        (design_effect(passed, sizes), clusters.design_effect(groups)),
        (intraclass_correlation(passed, sizes), clusters.intraclass_correlation(groups)),
    ):
        assert (found is None) == (expected is None)
        assert found is None or found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "trial", ["one@m#0", "one@m#4", "one@m#-1", "one@m#x", "one@m", "none@m#1", "one@m#²", "one@m#1#1"]
)
def test_a_trial_that_the_plan_does_not_have_has_no_place(trial: str) -> None:
    assert FrameBuilder(plan()).place(trial) is None


def test_places_go_in_order_of_the_plan() -> None:
    table = FrameBuilder(plan())
    assert [table.place(f"{name}@m#{n}") for name in ("one", "two", "three") for n in (1, 2, 3)] == list(range(9))
    group, start = table.group_of(4)
    assert (group.id, start) == ("two@m", 3)


def test_values_that_are_not_known_are_left_out_of_a_measure() -> None:
    made = plan()
    frame = gather(made, run(made, {})).frame
    values = np.array([1.0, np.nan, 0.0, np.nan, np.nan, np.nan, 1.0, 1.0, 1.0])
    tasks = by_task(frame, values)
    assert (tasks.rates, tasks.trials.tolist()) == ([0.5, 1.0], [2, 3])


def test_scenarios_leave_the_table_as_it_was() -> None:
    made = plan()
    frame = gather(made, run(made, {"one@m": "uuu", "two@m": "ppp"})).frame
    before = frame["success"].copy()
    assert as_if(frame, "worst")["success"].sum() == 3
    assert as_if(frame, "best")["success"].sum() == 9
    assert (frame["success"] == before).all()


def test_durations_of_calls_belong_to_their_trials() -> None:
    made = plan()
    records = run(made, {})
    slow = [
        record.model_copy(
            update={"calls": tuple(replace(call, duration_ms=float(n), actor="agent") for call in record.calls)}
        )
        for n, record in enumerate(records)
    ]
    frame = gather(made, slow).frame
    per_trial = sum(call.permission.decision == "allowed" for call in slow[0].calls)
    assert sorted(set(frame.where(np.array([2, 5])).call_times().tolist())) == [2.0, 5.0]
    assert len(frame.call_times()) == 9 * per_trial
    assert not len(frame.where(np.zeros(9, dtype=bool)).call_times())


def test_errors_of_no_trial_are_none() -> None:
    made = plan([task("one")])
    frame = gather(made, []).frame
    assert errors(frame).calls == 0
    assert rate(frame, "success") is None


def _spoken(record: TrialRecord, driver: str, word: str, id_: str = "") -> TrialRecord:
    requests = (ToolRequest(id_, "list_issues", {}),) if id_ else ()
    turn = TurnRecord(1, word, requests, (), "end_turn", Usage(), "m", 0.0, 1.0, 0.0, 0)
    agent = AgentIdentity(host="loop", host_version="1", model="m", driver=driver)
    return record.model_copy(update={"turns": (turn,), "agent": agent})


LONG = "toolu_0123456789abcdef"


@pytest.mark.parametrize(
    ("driver", "ids", "distinct"),
    [
        ("replay", ["", "", ""], 1),
        ("anthropic", [LONG, LONG, LONG], 1),
        ("anthropic", [LONG, LONG + "1", LONG], 2),
        ("anthropic", ["", "", ""], 3),
        ("litellm", ["call_0", "call_0", "call_0"], 3),
        ("script", [LONG, LONG, LONG], 3),
    ],
    ids=["replayed", "cached", "one cached", "equal words", "short ids", "scripted"],
)
def test_only_distinct_trials_count(driver: str, ids: list[str], distinct: int) -> None:
    made = plan([task("one"), task("two")])
    records = [_spoken(r, driver, "done", ids[r.trial - 1]) for r in run(made, {"two@m": "nnn"})]
    card = build(made, records).scorecard
    (cell,) = card.cells
    assert (cell.counts.planned, cell.counts.repeats) == (6, 6 - 2 * distinct)
    assert cell.success is not None
    assert (cell.success.trials, cell.success.value) == (2 * distinct, 0.5)
    assert (card.planned, card.recorded, card.complete) == (6, 6, True)
    assert [row.planned for row in card.rows] == [distinct, distinct]
    assert not cell.inconclusive


def test_a_repeat_of_another_task_or_cell_is_a_trial() -> None:
    made = plan([task("one"), task("two")], cells=("a", "b"), trials=1)
    records = [_spoken(record, "replay", "done") for record in run(made, {})]
    assert all(cell.counts.repeats == 0 for cell in build(made, records).scorecard.cells)


def test_a_violation_in_a_repeat_still_counts() -> None:
    from mcpeval_dsl.gateway.model import Violation

    made = plan([task("one")], trials=2)
    bad = Violation("destructive call", "critical", ("attempted", "blocked"), "c1")
    records = [_spoken(record, "replay", "done") for record in run(made, {})]
    records[1] = records[1].model_copy(update={"violations": (bad,)})
    assert build(made, records).scorecard.safety.critical == 1


def test_nan_never_reaches_the_card() -> None:
    made = plan()
    card = build(made, run(made, {"one@m": "---"})).scorecard
    assert all(not math.isnan(value) for value in _floats(card.model_dump()))


def _floats(value: object) -> list[float]:
    if isinstance(value, dict):
        return [found for item in value.values() for found in _floats(item)]
    if isinstance(value, list | tuple):
        return [found for item in value for found in _floats(item)]
    return [value] if isinstance(value, float) else []
