"""Leads of several trials: which count, and which a replay must speak for first."""

from __future__ import annotations

from typing import Any, Literal

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.gateway.model import CallError, CallRecord
from mcpeval_dsl.records.model import ArgumentTrace, Lead, TrialRecord
from mcpeval_dsl.score.facts import facts_of
from mcpeval_dsl.score.suspicions import LeadTally, counts
from tests.records.samples import call, trial


def lead(strength: str = "lead", **changes: Any) -> Lead:
    values = {"kind": "timeout", "server": "tracker", "tool": "get_issue", "call": "c1", "message": "no answer"}
    return Lead(**(values | {"strength": strength} | changes))


def test_a_timeout_does_not_count_before_a_replay() -> None:
    tally = LeadTally()
    tally.add(trial(leads=(lead("to_replay"),)))
    (row,) = tally.result()
    assert row.strength == "to_replay" and not counts(row)
    assert counts(row.model_copy(update={"status": "confirmed"}))


def test_the_stronger_sight_of_a_lead_is_kept() -> None:
    tally = LeadTally()
    tally.add(trial("t@c#1", leads=(lead("to_replay"),)))
    tally.add(trial("t@c#2", leads=(lead(),)))
    (row,) = tally.result()
    assert (row.strength, row.trials, row.first_trial) == ("lead", 2, "t@c#2")


def failing(kind: str, verdict: Literal["known", "invented", "unknown"], decisive: bool = True) -> TrialRecord:
    refused: CallRecord = call("c1", error=CallError("tool_error", kind, "no"), schema_valid=True)
    trace = ArgumentTrace(call="c1", argument="/key", value="A-1", decisive=decisive, verdict=verdict, origin="none")
    return trial(calls=(refused,), arguments=(trace,), answer=Answer("none"), violations=())


def test_an_invented_value_that_an_error_is_about_is_an_agent_error() -> None:
    assert facts_of(failing("not_found", "invented"), ()).agent_errors == 1
    assert facts_of(failing("crash", "invented"), ()).agent_errors == 1


def test_no_agent_error_where_the_value_was_known_or_the_error_is_about_something_else() -> None:
    assert facts_of(failing("not_found", "known"), ()).agent_errors == 0
    assert facts_of(failing("not_found", "unknown"), ()).agent_errors == 0
    assert facts_of(failing("rate", "invented"), ()).agent_errors == 0
    assert facts_of(failing("not_found", "invented", decisive=False), ()).agent_errors == 0
