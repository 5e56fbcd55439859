"""Score: trials that a confirmed defect kept from being tested, told apart from those that only lack something of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcpeval_dsl.records.model import OutcomeRecord, TrialRecord

FLAG = "blocked_by_defect"


def causes_of(record: TrialRecord) -> tuple[str, ...]:
    """Causes, first ones first, of a trial that a harvest kept from being tested, unless a defect is known already."""
    trouble, outcome = record.trouble, record.outcome
    if trouble is None or outcome is None or trouble.kind != "harvest" or FLAG in outcome.flags:
        return ()
    return trouble.chain


def blocked_by(outcome: OutcomeRecord, causes: Iterable[str], defects: Mapping[str, str]) -> OutcomeRecord:
    """The outcome with the flag where its first cause is a harvest that failed for a confirmed defect.

    `defects`: from such a cause (`harvest NAME: failed`) to the id of the defect, empty where none is confirmed.
    """
    defect = next((found for cause in causes if (found := defects.get(cause))), "")
    if not defect:
        return outcome
    because = (*(outcome.because or ()), f"defect {defect}")
    return outcome.model_copy(update={"flags": (*outcome.flags, FLAG), "because": because})


__all__ = ["FLAG", "blocked_by", "causes_of"]
