"""Grade, what was read of the state: which reading a grader sees, and what a failed one says.

What the server answered with an error, and what is not there (no such file or table), are facts about the state, so a
no. What our side could not read leaves the verdict missing. A write that was only simulated makes the state moot.
"""

from __future__ import annotations

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.saying import missing, moot, not_run, verdict
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.expressions import Source
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.values.model import Reading, Scope
from mcpeval_dsl.values.sources import source_key

REFUSED = frozenset(("tool_error", "protocol_error", "error_in_success", "invalid_result", "transport_error", "absent"))


def before_reading(grader: Grader, record: TrialRecord) -> Verdict | None:
    """The verdict where the state must not be judged at all."""
    if record.termination == "not_started":
        return missing(grader, "not_run", "the trial did not start", "state")
    if simulated(record):
        return moot(grader, "a write of the agent was simulated: the state could not change")
    if not_run(record) and not record.evidence:
        return missing(grader, "not_run", "the agent was kept from answering", "state")
    return None


def simulated(record: TrialRecord) -> bool:
    return record.permissions.simulated > 0 or any(
        call.actor == "agent" and call.permission.decision == "simulated" and not call.distractor
        for call in record.calls
    )


def reading_at(source: Source, scope: Scope, prefix: str = "") -> Reading | None:
    """The reading kept under the source's key; None where it was never read."""
    return scope.readings.get(prefix + source_key(source, scope))


def failed(
    grader: Grader, reading: Reading | None, what: str, expected: str = "", ours: bool = False
) -> Verdict | None:
    """The verdict that a reading's failure gives; None for one that can be used. `ours`: never the state's fault."""
    if reading is None:
        return missing(grader, "no_evidence", f"{what} was not read in the trial", "state")
    if reading.error is None:
        return None
    said = f"{what} could not be read: {reading.error}"
    if reading.error_class in REFUSED and not ours:
        return verdict(
            grader, False, "state", actual=said, expected=expected, reason=said, evidence=tuple(reading.calls)
        )
    return missing(grader, "timeout" if reading.error_class == "timeout" else "no_evidence", said, "state")
