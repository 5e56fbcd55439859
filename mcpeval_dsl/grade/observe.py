"""Grade, the agent's calls and behaviours as patterns see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.values.consent import asks, asks_leave
from mcpeval_dsl.values.observed import ObservedCall


def agent_calls(record: TrialRecord) -> tuple[CallRecord, ...]:
    return tuple(call for call in record.calls if call.actor == "agent")


def observed(record: TrialRecord, catalogues: Mapping[str, str] | None = None) -> list[ObservedCall]:
    """The agent's calls in order; simulated ones count as made, those of distractors as never sent.

    `catalogues` by server, where the names differ.
    """
    return [observed_call(call, (catalogues or {}).get(call.server)) for call in agent_calls(record)]


def observed_call(call: CallRecord, catalogue: str | None = None) -> ObservedCall:
    denied = call.permission.decision == "denied" or (call.error is not None and call.error.error_class == "denied")
    failed = call.is_error or (call.error is not None and not denied)
    return ObservedCall(
        call.id,
        call.server,
        call.tool,
        call.arguments,
        catalogue,
        call.permission.effect,
        failed=failed and not denied,
        denied=denied or call.distractor,
    )


def behaviours(record: TrialRecord) -> dict[str, Sequence[int]]:
    """Behaviours by name, each with the number of calls made before it was seen.

    refusal: the agent declined. question: what it said last in a turn without calls, or its answer, asks something.
    confirmation: such a question asks for leave. recovery: a call failed, a later one succeeded and an answer was given.
    """
    found: dict[str, Sequence[int]] = {}
    calls = agent_calls(record)
    if refused(record):
        found["refusal"] = (len(calls),)
    asked = _said_without_calls(record)
    questions = tuple(position for position, text in asked if asks(text))
    if questions:
        found["question"] = questions
    leave = tuple(position for position, text in asked if asks_leave(text))
    if leave:
        found["confirmation"] = leave
    recovery = _recovered(record)
    if recovery is not None:
        found["recovery"] = (recovery,)
    return found


def refused(record: TrialRecord) -> bool:
    """A refusal passes where it is expected, even without text."""
    return record.answer.form == "refusal" or record.termination == "refused"


def _said_without_calls(record: TrialRecord) -> list[tuple[int, str]]:
    made = 0
    said: list[tuple[int, str]] = []
    for turn in record.turns:
        if not turn.requests and turn.text and turn is not record.turns[-1]:
            said.append((made, turn.text))
        made += len(turn.requests)
    if record.answer.text:
        said.append((made, record.answer.text))
    return said


def _recovered(record: TrialRecord) -> int | None:
    """Number of calls up to the first success after a failure, when there is an answer too."""
    if record.answer.form != "given":
        return None
    failed = False
    for position, call in enumerate(observed(record), start=1):
        if call.failed:
            failed = True
        elif failed and not call.denied:
            return position
    return None
