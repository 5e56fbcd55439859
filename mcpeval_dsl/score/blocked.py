"""Score: trials that a confirmed defect kept from being tested, told apart from those that only lack something of ours."""

from __future__ import annotations

from collections.abc import Mapping

from mcpeval_dsl.records.model import TrialRecord

FLAG = "blocked_by_defect"


def blocked_by(record: TrialRecord, defects: Mapping[str, str]) -> TrialRecord:
    """The record with the flag where its first cause is a harvest that failed for a confirmed defect.

    `defects`: from such a cause (`harvest NAME: failed`) to the id of the defect, empty where none is confirmed.
    """
    trouble, outcome = record.trouble, record.outcome
    if trouble is None or outcome is None or trouble.kind != "harvest" or FLAG in outcome.flags:
        return record
    defect = next((found for cause in trouble.chain if (found := defects.get(cause))), "")
    if not defect:
        return record
    because = (*(outcome.because or ()), f"defect {defect}")
    flagged = outcome.model_copy(update={"flags": (*outcome.flags, FLAG), "because": because})
    return record.model_copy(
        update={"outcome": flagged, "trouble": trouble.model_copy(update={"blocked_by_defect": True})}
    )


__all__ = ["FLAG", "blocked_by"]
