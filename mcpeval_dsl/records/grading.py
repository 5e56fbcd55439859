"""Records: what a trial was worth, kept apart from its facts so that grading again replaces it and nothing else."""

from __future__ import annotations

from mcpeval_dsl.records.model import ArgumentTrace, Frozen, Lead, OutcomeRecord, TrialRecord, VerdictRecord


class Grading(Frozen):
    """Made again from the facts at any time; `grade_key` says from which grader settings."""

    grade_key: str = ""
    verdicts: tuple[VerdictRecord, ...] = ()
    outcome: OutcomeRecord | None = None
    leads: tuple[Lead, ...] | None = None
    arguments: tuple[ArgumentTrace, ...] | None = None


def graded(record: TrialRecord, grading: Grading) -> TrialRecord:
    return record.model_copy(
        update={
            "grade_key": grading.grade_key or record.grade_key,
            "verdicts": grading.verdicts,
            "outcome": grading.outcome,
            "leads": record.leads if grading.leads is None else grading.leads,
            "arguments": record.arguments if grading.arguments is None else grading.arguments,
        }
    )


def ungraded(record: TrialRecord) -> TrialRecord:
    """The facts alone."""
    return record.model_copy(update={"verdicts": (), "outcome": None})
