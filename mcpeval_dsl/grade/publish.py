"""Grade, last step: verdicts as the record publishes them, and back."""

from __future__ import annotations

from typing import cast

from mcpeval_dsl.grade.model import MissingBecause, Reads, Verdict
from mcpeval_dsl.records.model import VerdictRecord
from mcpeval_dsl.source import Location


def to_record(given: Verdict) -> VerdictRecord:
    return VerdictRecord(
        grader=given.grader,
        kind=given.kind,
        verdict=given.verdict,
        deciding=given.deciding,
        weight=given.weight,
        reads=given.reads,
        missing_because=given.missing_because,
        actual=given.actual,
        expected=given.expected,
        reason=given.reason,
        score=given.score,
        flags=given.flags,
        evidence=given.evidence,
        parts=tuple(to_record(part) for part in given.parts),
        cost_usd=given.cost_usd,
        at=str(given.at) if given.at is not None else "",
        turn=given.turn,
    )


def from_record(kept: VerdictRecord, at: Location | None) -> Verdict:
    """A verdict that was given earlier; parts keep no place of their own."""
    return Verdict(
        grader=kept.grader,
        kind=kept.kind,
        verdict=kept.verdict,
        deciding=kept.deciding,
        weight=kept.weight,
        reads=cast(Reads, kept.reads),
        missing_because=cast(MissingBecause, kept.missing_because),
        actual=kept.actual,
        expected=kept.expected,
        reason=kept.reason,
        score=kept.score,
        flags=kept.flags,
        evidence=kept.evidence,
        parts=tuple(from_record(part, at) for part in kept.parts),
        cost_usd=kept.cost_usd,
        at=at,
        turn=kept.turn,
    )
