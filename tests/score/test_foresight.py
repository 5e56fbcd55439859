from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.score.foresight import foresee
from mcpeval_dsl.semantics.expressions import Condition, Literal, Ref
from mcpeval_dsl.semantics.model import GateRule
from tests.score.arms import armed, tasks
from tests.score.samples import rule


def warned(asked: GateRule, count: int, trials: int = 4, **changes: Any) -> list[str]:
    made = armed(tasks(count, **changes), rules=[asked], trials=trials)
    found = foresee(made)
    assert {(each.code, each.severity, each.at) for each in found} <= {("MCPE581", "warning", asked.at)}
    return [f"{each.title}; {each.hint}" for each in found]


def low(metric: str, value: float, **changes: Any) -> GateRule:
    return rule(f"{metric}.low >= {value}", metric, ">=", value, bound="low", **changes)


@pytest.mark.parametrize(
    ("asked", "count", "said"),
    [
        (low("task_success", 0.8), 6, "is 47.6 % at best; it takes 18 of them"),
        (low("task_success", 0.8), 18, ""),
        (low("task_success", 0.4), 6, ""),
        (low("task_success", 0.9999), 6, "at best; or ask for the estimate"),
        (low("pass^3", 0.7), 6, "`pass^3.low` is 61.0 % at best"),
        (low("tool_precision", 0.8), 6, "is 47.6 % at best"),
        (rule("x", "distractor_rate", "<=", 0.1, bound="high"), 6, "is 52.4 % at best"),
        (rule("x", "distractor_rate", "<=", 0.6, bound="high"), 6, ""),
        (rule("x", "task_success", ">=", 0.99), 2, ""),
        (rule("x", "task_success", "==", 0.99, bound="low"), 2, ""),
        (rule("x", "lift", ">=", 0.0), 5, "5 independent tasks can show no difference: p cannot fall below 0.0625"),
        (rule("x", "lift", ">=", 0.05), 20, "too few trials to see 5 points: 20 tasks of 4 trials show 28 points"),
        (rule("x", "lift", ">=", 0.0), 20, ""),
        (rule("x", "lift", ">=", 0.0), 8, "too few trials to see 30 points"),
        (low("lift", 0.0), 50, ""),
        (rule("x", "compare", ">=", 0.5), 10, ""),
    ],
)
def test_what_so_few_tasks_cannot_show_is_told(asked: GateRule, count: int, said: str) -> None:
    found = warned(asked, count)
    assert bool(found) == bool(said)
    assert not said or said in found[0]


def test_one_task_is_about_its_own_trials() -> None:
    assert "with one task" in warned(low("task_success", 0.8), 1)[0]
    assert warned(low("task_success", 0.8), 1, trials=20) == []


def test_tasks_of_one_cluster_have_no_interval() -> None:
    assert "all its tasks form one cluster" in warned(low("task_success", 0.1), 9, cluster="rows")[0]


def test_a_segment_has_fewer_tasks_than_the_suite() -> None:
    only = (Condition(Ref(("tag",)), "==", Literal("write")),)
    assert warned(low("task_success", 0.8), 18) == []
    assert "9 independent tasks" in warned(low("task_success", 0.8, where=only), 18)[0]


def test_a_segment_that_nothing_is_in_is_left_to_the_gate() -> None:
    only = (Condition(Ref(("tag",)), "==", Literal("none")),)
    assert warned(low("task_success", 0.8, where=only), 18) == []
