"""Score: from the record of a trial to the facts that decide its outcome, and to what a failure is put down to."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.score.outcomes import TrialFacts, VerdictFact
from mcpeval_dsl.score.sightings import cut_by_host

_MOVED = "ground_truth_moved:"
_WRITES = frozenset({"additive", "destructive", "unknown"})
_ABOUT_ARGUMENTS = frozenset({"not_found", "validation", "crash", "closed", "internal", "unknown"})
_OPERATIONS = frozenset({"host_error", "deadline", "turn_limit", "max_tokens"})


def facts_of(record: TrialRecord, verdicts: Sequence[VerdictRecord] | None = None) -> TrialFacts:
    """Facts of a record; `verdicts` replace those on record."""
    said = record.verdicts if verdicts is None else tuple(verdicts)
    calls = [call for call in record.calls if call.actor == "agent"]
    wrong = {call.id for call in calls if call.schema_valid is False} | made_up(record)
    moved = next((flag.removeprefix(_MOVED) for flag in record.flags if flag.startswith(_MOVED)), "")
    return TrialFacts(
        termination=record.termination,
        answered=record.answer.form != "none",
        verdicts=tuple(VerdictFact(v.verdict, v.deciding, v.reads, v.missing_because, v.reason) for v in said),
        infra=record.trouble,
        charged=record.counts.charged,
        soft=record.budget.calls_soft,
        hard=record.budget.calls_hard,
        turn_soft=record.budget.turn_calls_soft,
        turn_hard=record.budget.turn_calls_hard,
        most_in_turn=max(record.budget.turn_calls, default=0),
        over=record.budget.over,
        critical=any(violation.severity == "critical" for violation in record.violations),
        simulate=record.policy == "simulate",
        truth_moved=moved,
        flags=_flags(record, calls, said),
        agent_errors=sum(call.id in wrong and not _ours(call) for call in calls),
        layer=_layer(record, calls),
        failure_kind=_failure_kind(record, calls, said),
    )


def made_up(record: TrialRecord) -> set[str]:
    """Ids of failing calls whose error is about a value that the agent invented; a rate limit is about none."""
    kinds = {call.id: call.error.kind for call in record.calls if call.error is not None}
    return {
        trace.call
        for trace in record.arguments
        if trace.decisive and trace.verdict == "invented" and kinds.get(trace.call) in _ABOUT_ARGUMENTS
    }


def same_call(call: CallRecord) -> str:
    """What makes two calls equal: server, tool and arguments."""
    return f"{call.server}\0{call.tool}\0{json.dumps(dict(call.arguments), sort_keys=True, default=str)}"


def failed_by_tool(call: CallRecord) -> bool:
    """An error that an agent can recover from: the server's or a fault's, never our own denial."""
    return call.error is not None and call.error.cause in ("server", "fault", "fault_after_effect")


def _ours(call: CallRecord) -> bool:
    return call.error is not None and call.error.cause != "server"


def _flags(record: TrialRecord, calls: Sequence[CallRecord], said: Sequence[VerdictRecord]) -> tuple[str, ...]:
    found = [flag for flag in record.flags if not flag.startswith(_MOVED)]
    right = {v.verdict for v in said if v.deciding}
    forced = sum(call.fault != "" and not call.charged and call.error is not None for call in calls)
    soft = record.budget.calls_soft
    if forced and soft is not None and record.counts.charged <= soft < record.counts.charged + forced:
        found.append(f"calls_forced_by_fault:{forced}")
    elif "yes" in right and "no" not in right and _overcome(record, calls):
        found.append("recovered")
    if _not_understood(record, calls):
        found.append("hint")
    if record.permissions.simulated:
        found.append("writes_simulated")
    if record.counts.errors_in_success:
        found.append("wire:error_in_success")
    unknown: set[str] = set()
    repeated = False
    for call in calls:
        repeated = repeated or same_call(call) in unknown
        if call.effect_unknown and not call.permission.idempotent:
            unknown.add(same_call(call))
    if any(call.effect_unknown for call in calls):
        found.append("unknown_effect")
    if repeated:
        found.append("repeated_after_unknown_effect")
    if "result_too_large" in record.findings:
        found.append("result_too_large")
    if _read_after_restart(record.calls):
        found.append("state_read_after_restart")
    return tuple(dict.fromkeys(found))


def _overcome(record: TrialRecord, calls: Sequence[CallRecord]) -> bool:
    """Whether a call failed that should not have, by a fault or a lead against the server, and a later one succeeded.

    What the agent itself got wrong, and what the server refused rightly, is nothing to recover from.
    """
    leads = {lead.call for lead in record.leads if lead.strength == "lead"}
    failed = False
    for call in calls:
        if call.error is None:
            if failed:
                return True
        elif call.error.cause in ("fault", "fault_after_effect") or (
            call.id in leads and call.schema_valid is not False
        ):
            failed = True
    return False


def _not_understood(record: TrialRecord, calls: Sequence[CallRecord]) -> bool:
    """Whether an error in words that nothing is known of met arguments that the server itself had named."""
    unknown = {call.id for call in calls if call.error is not None and call.error.kind == "unknown" and not _ours(call)}
    return any(trace.call in unknown and trace.decisive and trace.vouch == "strong" for trace in record.arguments)


def _read_after_restart(calls: Sequence[CallRecord]) -> bool:
    """Whether a grader read a state from a server that had died before."""
    dead: set[str] = set()
    for call in calls:
        if call.died:
            dead.add(call.server)
        elif call.actor == "grader" and call.error is None and call.server in dead:
            return True
    return False


def _unresolved(calls: Sequence[CallRecord]) -> CallRecord | None:
    """The last call that the server failed and that no later success of the same tool made good."""
    succeeded: set[tuple[str, str]] = set()
    for call in reversed(calls):
        if call.error is None:
            succeeded.add((call.server, call.tool))
        elif call.error.cause == "server" and (call.server, call.tool) not in succeeded:
            return call
    return None


def _layer(record: TrialRecord, calls: Sequence[CallRecord]) -> str:
    if record.termination in _OPERATIONS or record.termination.startswith("hard_budget:"):
        return "operations"
    if record.termination == "server_dead" or any(call.effect_unknown for call in calls):
        return "transport"
    call = _unresolved(calls)
    if call is None or call.error is None or _wrongly_asked(record, call):
        return "task execution"
    if call.error.error_class in ("transport_error", "timeout"):
        return "transport"
    if call.error.error_class in ("protocol_error", "invalid_result"):
        return "protocol"
    return "tool semantics"


def _failure_kind(record: TrialRecord, calls: Sequence[CallRecord], verdicts: Sequence[VerdictRecord]) -> str | None:
    call = _unresolved(calls)
    if call is not None:
        return "right tool with invalid arguments" if _wrongly_asked(record, call) else "server rejected a valid call"
    if any(v.deciding and v.verdict == "no" and v.kind == "calls" for v in verdicts):
        return "wrong tool"
    if any(call.truncated for call in calls) or cut_by_host(record.findings):
        return "host dropped or transformed a response"
    if record.answer.form == "given" and _unverified(calls, verdicts):
        return "claimed success without verifying"
    if record.answer.form == "refusal":
        return "refused"
    if record.answer.form == "given" and calls and all(c.error is None for c in calls):
        return "every call succeeded and the answer is wrong"
    return None


def _wrongly_asked(record: TrialRecord, call: CallRecord) -> bool:
    """Whether the schema forbids it, or the server rightly refused a value that it had not named itself, as far as is known."""
    if call.schema_valid is False:
        return True
    if call.error is None or call.error.kind not in ("not_found", "validation"):
        return False
    if any(lead.call == call.id for lead in record.leads):
        return False
    return any(each.call == call.id and each.decisive and each.vouch != "strong" for each in record.arguments)


def _unverified(calls: Sequence[CallRecord], verdicts: Sequence[VerdictRecord]) -> bool:
    """The state is not as asked, and nothing was read after the last write."""
    state_says_no = any(v.deciding and v.verdict == "no" and v.reads == "state" for v in verdicts)
    last_was_write = bool(calls) and calls[-1].permission.effect in _WRITES
    return state_says_no and last_was_write
