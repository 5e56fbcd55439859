from __future__ import annotations

from mcpeval_dsl.gateway.model import CallError
from mcpeval_dsl.records.model import HarvestRecord
from mcpeval_dsl.score.settle import settle
from mcpeval_dsl.semantics.expressions import CallPattern, Combined
from mcpeval_dsl.semantics.graders import Calls, Common
from tests.records.samples import call, trial
from tests.score.samples import task, verdict

LISTED = call("h1", "list_issues", actor="harvest", arguments={}, text='[{"key": "A-1"}]')
FAILED = call("c1", error=CallError("tool_error", "not_found", "Not found: A-1"), schema_valid=True)
BILLING = HarvestRecord(id="billing", key="k", harvest="billing", status="ok", calls=(LISTED,))
ERRORS = Combined("errors", (CallPattern("get_issue", "tracker"),))


def test_verdicts_leads_and_outcome_are_set_together() -> None:
    record = trial(calls=(FAILED,), harvested={"billing": "h1"})
    done = settle(record, (verdict("no"),), task("one"), [BILLING], "g2")
    assert done.outcome is not None
    assert (done.outcome.outcome, done.grade_key) == ("wrong_answer", "g2")
    assert [lead.evidence for lead in done.leads] == [("h1", "c1")]


def test_only_harvests_that_the_trial_used_vouch() -> None:
    assert settle(trial(calls=(FAILED,)), (verdict(),), task("one"), [BILLING]).leads == ()


def test_an_error_that_the_task_wants_is_no_lead() -> None:
    record = trial(calls=(FAILED,), harvested={"billing": "h1"})
    for wanting in (task("one", expect=(ERRORS,)), task("one", graders=(Calls(Common("g1"), (ERRORS,)),))):
        assert settle(record, (verdict(),), wanting, [BILLING]).leads == ()


def test_settling_twice_changes_nothing() -> None:
    once = settle(trial(calls=(FAILED,), harvested={"billing": "h1"}), (verdict(),), task("one"), [BILLING])
    assert settle(once, once.verdicts, task("one"), [BILLING]) == once


def test_a_cancelled_trial_has_no_outcome() -> None:
    assert settle(trial(termination="cancelled"), (), task("one")).outcome is None
