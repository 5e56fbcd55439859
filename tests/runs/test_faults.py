"""Faults through whole runs: what the agent meets, what is counted, charged and blamed, and what recovery is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

READ: dict[str, Any] = {"call": "list_things"}
GRADED = 'expect recovery; grade contains "lamp"'
SAID = {"reply": "{{ last.text }}"}


def trial(bench: Bench, fault: str, script: list[Any], task: str = GRADED, **more: Any) -> TrialRecord:
    """The only trial of a task with this fault."""
    bench.spec(f'task t {{ prompt "x"; kind recovery; {fault}; {task} }}\n', {"*": script}, **more)
    done = bench.run()
    assert "t#1" in bench.records, done.err
    return bench.records["t#1"]


def tool_measures(bench: Bench) -> dict[str, Any]:
    card = json.loads(bench.scorecard)
    found: dict[str, Any] = card["cells"][0]["tools"]
    return found


KINDS = {
    "timeout": ("timeout", "timeout", "timeout", "did not answer in time (no answer within 5 s)"),
    "error": ('error "EIO: i/o error, read"', "error", "unknown", "EIO: i/o error, read"),
    "protocol_error": ('protocol_error -32603 "internal error"', "protocol_error -32603", "internal", "unavailable"),
    "expired_credential": ("expired_credential", "expired_credential", "expired", "401 Unauthorized"),
    "http": ("http 429; retry_after 2s", "http 429", "rate", "429 Too Many Requests: retry after 2 s"),
    "garbage": ("garbage", "garbage", "unknown", "unavailable"),
    "disconnect": ("disconnect", "disconnect", "closed", "The connection to its server was lost"),
}


@pytest.mark.parametrize("case", KINDS.values(), ids=KINDS.keys())
def test_each_kind_is_met_once_is_ours_and_can_be_recovered_from(bench: Bench, case: tuple[str, str, str, str]) -> None:
    says, words, kind, told = case
    script = [{**READ, "as": "first"}, {"expect": {"result_is_error": True}, **READ}, SAID]
    record = trial(bench, f"fault shelf.list_* {{ on call 1; {says} }}", script)
    hit, again = (call for call in record.calls if call.actor == "agent")
    assert hit.error is not None
    assert (hit.fault, hit.error.error_class, hit.error.kind, hit.error.cause) == (words, "injected", kind, "fault")
    assert told in hit.text
    assert (again.fault, again.error) == ("", None)
    assert (hit.charged, again.charged, record.counts.charged) == (False, True, 1)
    assert record.counts.injected == 1
    assert (record.counts.tool_errors, record.counts.timeouts, record.counts.transport_errors) == (0, 0, 0)
    assert outcome(record) == "pass" and record.leads == () and "fault_not_reached" not in record.flags
    assert record.outcome is not None and "recovered" in record.outcome.flags
    assert tool_measures(bench)["recovery"]["value"] == 1.0


def test_an_error_as_a_success_reaches_the_agent_as_one(bench: Bench) -> None:
    text = '{"success": false, "error": "database is locked"}'
    fault = "fault list_things { on call 1; error " + json.dumps(text) + " { as success } }"
    record = trial(bench, fault, [READ, {"expect": {"result_is_error": False}, **READ}, SAID])
    hit = record.calls[0]
    assert (hit.text, hit.is_error) == (text, False)
    assert hit.error is not None and (hit.error.error_class, hit.error.cause) == ("injected", "fault")
    assert record.counts.errors_in_success == 0 and outcome(record) == "pass"


def test_a_success_that_does_not_look_like_an_error_is_still_the_faults(bench: Bench) -> None:
    record = trial(bench, 'fault list_things { on call 1; error "all shelves are empty" { as success } }', [READ, SAID])
    assert record.calls[0].error is not None and record.calls[0].error.cause == "fault"
    assert outcome(record) == "wrong_answer" and tool_measures(bench)["recovery"]["value"] == 0.0


def test_a_slow_reply_is_late_and_no_error(bench: Bench) -> None:
    record = trial(bench, "fault list_things { slow 300ms }", [READ, SAID], 'grade contains "lamp"')
    (hit,) = record.calls
    assert (hit.fault, hit.error, hit.charged) == ("slow 0.3s", None, True)
    assert hit.duration_ms >= 300 and record.timing.waited_ms >= 300
    assert "fault_not_reached" not in record.flags
    assert tool_measures(bench)["recovery"] is None, "nothing failed"


def test_a_reply_later_than_the_server_is_waited_for_is_none(bench: Bench) -> None:
    head = """suite bench "Bench" { seed 11; defaults { environment desk } }
server shelf { stdio "python" "shelf.py"; timeout 400ms }
annotations shelf { readonly list_* }
model canned { script "canned.yaml" }
"""
    record = trial(bench, "fault list_things { on call 1; slow 600s }", [READ, READ, SAID], head=head)
    hit = record.calls[0]
    assert hit.error is not None and (hit.error.kind, hit.error.cause) == ("timeout", "fault")
    assert hit.duration_ms >= 400 and not hit.charged


def test_only_the_nth_matching_call_of_the_agent_is_hit(bench: Bench) -> None:
    script = [READ, {"call": "get_place"}, READ, READ, SAID]
    task = """harvest now = shelf.list_things() { first = $.things[0] }
    expect recovery; grade contains now.first; grade state shelf.list_things() $.things has "lamp" """
    record = trial(bench, "fault list_* { on call 2; timeout }", script, task)
    assert [call.fault for call in record.calls if call.actor == "agent"] == ["", "", "timeout", ""]
    assert not any(call.fault for call in record.calls if call.actor != "agent")
    assert outcome(record) == "pass"


def test_a_fault_that_is_never_reached_leaves_the_trial_out_of_the_measure(bench: Bench) -> None:
    script = [{"call": "get_error"}, READ, SAID]
    record = trial(bench, "fault list_* { on call 2; timeout }", script, 'grade contains "lamp"')
    assert "fault_not_reached" in record.flags and outcome(record) == "pass"
    assert any("fault `timeout` was not reached" in finding for finding in record.findings)
    assert tool_measures(bench)["recovery"] is None


def test_the_same_error_without_faults_counts_in_the_measure(bench: Bench) -> None:
    bench.spec('task t { prompt "x"; grade contains "lamp" }\n', {"*": [{"call": "get_error"}, READ, SAID]})
    bench.run()
    assert tool_measures(bench)["recovery"]["value"] == 1.0
    assert bench.records["t#1"].flags == ()


def test_who_never_tries_again_has_not_recovered(bench: Bench) -> None:
    record = trial(bench, "fault list_* { on call 1; timeout }", [READ, {"reply": "I cannot say"}])
    assert outcome(record) == "wrong_answer" and record.leads == ()
    assert tool_measures(bench)["recovery"]["value"] == 0.0


def test_calls_forced_by_a_fault_decide_no_budget(bench: Bench) -> None:
    """Five calls under a budget of four, two of them again after faults."""
    fault = "fault list_* { on call 1; timeout }; fault list_* { on call 3; timeout }; budget calls <= 4 hard 15"
    record = trial(bench, fault, [READ] * 5 + [SAID])
    assert (record.counts.made, record.counts.charged) == (5, 3)
    assert outcome(record) == "pass"
    assert record.outcome is not None and "calls_forced_by_fault:2" in record.outcome.flags


def test_needless_calls_beside_a_fault_are_charged(bench: Bench) -> None:
    fault = "fault list_* { on call 1; timeout }; budget calls <= 2 hard 15"
    record = trial(bench, fault, [READ] * 4 + [SAID])
    assert outcome(record) == "too_many_calls"
    assert record.outcome is not None and "calls_forced_by_fault:1" not in record.outcome.flags


def test_a_lasting_fault_forces_one_call_only(bench: Bench) -> None:
    record = trial(bench, "fault list_* { timeout }; budget calls <= 3 hard 3", [READ] * 9 + [{"reply": "never"}])
    assert (record.termination, record.counts.charged) == ("hard_budget:calls", 3)
    assert outcome(record) == "too_many_calls"


def test_after_a_disconnect_a_new_session_answers_and_what_the_cut_took_is_the_faults(bench: Bench) -> None:
    together = {"calls": [{"tool": "get_hang"}, {"tool": "list_things"}]}
    record = trial(bench, "fault list_* { on call 1; disconnect }", [together, READ, SAID])
    hanging, hit, again = record.calls
    assert hanging.error is not None and hit.error is not None
    assert (hanging.error.error_class, hanging.error.cause) == ("transport_error", "fault_after_effect")
    assert hit.error.cause == "fault" and again.error is None
    assert (hanging.session, hit.session, again.session) == (1, 1, 2)
    assert record.leads == () and record.counts.injected == 2 and record.counts.transport_errors == 0
    assert outcome(record) == "pass"


def test_a_server_that_dies_by_itself_is_not_excused_by_a_fault_elsewhere(bench: Bench) -> None:
    script = [READ, {"call": "get_die"}, READ, SAID]
    record = trial(bench, "fault list_* { on call 1; timeout }", script)
    died = record.calls[1]
    assert died.error is not None and died.error.cause == "server"
    assert [lead.kind for lead in record.leads] == ["crash"]


def test_a_denied_write_meets_no_fault(bench: Bench) -> None:
    script = [{"call": {"tool": "wipe_all"}}, READ, SAID]
    record = trial(bench, "fault * { on call 1; timeout }", script, 'grade contains "lamp"')
    assert [call.fault for call in record.calls] == ["", "timeout"]
    assert [violation.kind for violation in record.violations] == ["destructive_call"]


def test_a_write_lost_to_a_fault_has_an_unknown_effect_and_never_happened(bench: Bench) -> None:
    script = [{"call": {"tool": "add_thing", "arguments": {"name": "desk"}}}, READ, SAID]
    task = 'may add_thing; grade state shelf.list_things() $.things == ["lamp", "vase"]'
    record = trial(bench, "fault add_thing { timeout }", script, task)
    assert record.calls[0].effect_unknown and outcome(record) == "pass"
    assert record.outcome is not None and "unknown_effect" in record.outcome.flags


def test_a_probability_is_drawn_by_the_seed_of_the_trial(bench: Bench) -> None:
    body = 'task t { prompt "x"; trials 12; fault list_* { probability 50%; timeout }; grade contains "done" }\n'
    bench.spec(body, {"*": [READ, READ, {"reply": "done"}]})

    def drawn() -> list[list[str]]:
        return [[call.fault for call in bench.records[f"t#{number}"].calls] for number in range(1, 13)]

    bench.run()
    first = drawn()
    hits = sum(fault == "timeout" for trial in first for fault in trial)
    assert 5 <= hits <= 19 and len({tuple(trial) for trial in first}) > 1
    bench.run("--fresh")
    assert drawn() == first


def test_a_changed_fault_makes_the_trial_due_again(bench: Bench) -> None:
    script = [READ, READ, SAID]
    before = trial(bench, "fault list_* { on call 1; timeout }", script)
    after = trial(bench, "fault list_* { on call 1; garbage }", script)
    assert before.key != after.key and after.calls[0].fault == "garbage"


def test_the_page_of_a_trial_says_which_call_was_hit(bench: Bench) -> None:
    trial(bench, "fault list_* { on call 1; timeout }", [READ, READ, SAID])
    shown = bench.mcpe("view", "t@canned#1").out
    assert "injected by fault `timeout`" in shown
    assert "recovered" in shown


def test_the_report_shows_recovery(bench: Bench) -> None:
    body = (
        'task t { prompt "x"; trials 2; fault list_* { on call 1; timeout }; expect recovery; grade contains "lamp" }\n'
    )
    bench.spec(body, {"*": {"trials": {1: [READ, {"reply": "no"}]}, "steps": [READ, READ, SAID]}})
    shown = bench.run().out
    assert "recovered" in shown and "50.0 %" in shown
    assert tool_measures(bench)["recovery"] == {
        "value": 0.5,
        "low": None,
        "high": None,
        "trials": 2,
        "tasks": 1,
    }


def test_expected_recovery_can_be_graded(bench: Bench) -> None:
    lines = "expect recovery; grade calls recovery"
    assert outcome(trial(bench, "fault list_* { on call 1; timeout }", [READ, READ, SAID], lines)) == "pass"
    never = trial(bench, "fault list_* { on call 1; timeout }", [READ, {"reply": "lamp"}], lines)
    assert outcome(never) == "wrong_answer"
