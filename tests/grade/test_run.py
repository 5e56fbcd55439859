"""All verdicts on one trial: order, conditions, what is published."""

from __future__ import annotations

import asyncio

from mcpeval_dsl.grade.publish import from_record, to_record
from mcpeval_dsl.grade.run import grade_trial, total_cost
from mcpeval_dsl.plan.ceilings import judge_models
from mcpeval_dsl.records.model import VerdictRecord
from mcpeval_dsl.semantics.model import Conditional, Task
from tests.grade.building import PLACE, SERVICES, grader, record
from tests.values.shorthand import condition


def task() -> Task:
    extra = Conditional(condition([{"ref": "model"}, "==", "canned"]), (grader({"exact": "b"}, "g2"),))
    never = Conditional(condition([{"ref": "model"}, "==", "other"]), (grader({"exact": "c"}, "g3"),))
    broken = Conditional(condition([{"ref": "nothing"}, "==", 1]), (grader({"exact": "d"}, "g4"),))
    return Task("t", graders=(grader({"exact": "a"}),), conditionals=(extra, never, broken))


def test_graders_under_a_condition_count_where_it_holds() -> None:
    found = asyncio.run(grade_trial(task(), record(answer="a", names={"model": "canned"}), SERVICES))
    assert [(each.grader, each.verdict) for each in found] == [("g1", "yes"), ("g2", "no"), ("g4", "missing")]
    assert found[2].reason == "its `when` has no value: `nothing` has no value here"
    assert all(isinstance(each, VerdictRecord) for each in found)
    assert found[1].at == "specs/x.mcpe:7:3"


def test_grading_again_gives_the_same() -> None:
    facts = record(answer="a", names={"model": "canned"})
    first = asyncio.run(grade_trial(task(), facts, SERVICES))
    again = facts.model_copy(update={"verdicts": first})
    assert asyncio.run(grade_trial(task(), again, SERVICES)) == first


def test_a_published_verdict_can_be_read_back() -> None:
    (first, *_) = asyncio.run(grade_trial(task(), record(answer="a"), SERVICES))
    assert to_record(from_record(first, PLACE)) == first


def test_judges_are_named_once() -> None:
    inner = {"any": [{"judge": ["x"], "model": "a", "second": "b"}, {"exact": "y"}]}
    wanted = Task("t", graders=(grader({"judge": ["x"], "model": "a"}), grader(inner, "g2")))
    assert judge_models(wanted) == ("a", "b")
    assert total_cost(()) == 0
