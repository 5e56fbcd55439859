"""Grade, what every grader uses: the scope of a record, the answer it reads, and verdicts with their place in the spec."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.grade.model import MissingBecause, Reads, Verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Grader, Normalisation
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.text import clipped

_AGENTS_OWN = ("content_filter", "context_overflow")


def scope_of(record: TrialRecord, services: GradeServices) -> Scope:
    """Names and readings as they were at the end of the trial."""
    return Scope(names=record.scope, readings=record.evidence, secrets=services.secrets)


def verdict(
    grader: Grader,
    holds: bool,
    reads: Reads,
    *,
    actual: str = "",
    expected: str = "",
    reason: str = "",
    score: float | None = None,
    flags: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    parts: tuple[Verdict, ...] = (),
    cost_usd: float | None = None,
) -> Verdict:
    """Yes or no."""
    common = grader.common
    return Verdict(
        grader=common.id,
        kind=grader.kind,
        verdict="yes" if holds else "no",
        deciding=common.weight > 0,
        weight=common.weight,
        reads=reads,
        actual=clipped(actual, 400),
        expected=clipped(expected, 400),
        reason=reason,
        score=score,
        flags=flags,
        evidence=evidence,
        parts=parts,
        cost_usd=cost_usd,
        at=common.at,
    )


def missing(
    grader: Grader,
    because: MissingBecause,
    reason: str,
    reads: Reads = "answer",
    *,
    flags: tuple[str, ...] = (),
    parts: tuple[Verdict, ...] = (),
    cost_usd: float | None = None,
) -> Verdict:
    """No verdict, and why: nothing about the agent follows from it."""
    common = grader.common
    return Verdict(
        grader=common.id,
        kind=grader.kind,
        verdict="missing",
        deciding=common.weight > 0,
        weight=common.weight,
        reads=reads,
        missing_because=because,
        reason=clipped(reason, 400),
        flags=flags,
        parts=parts,
        cost_usd=cost_usd,
        at=common.at,
    )


def moot(grader: Grader, reason: str, reads: Reads = "state") -> Verdict:
    """The grader would judge something that did not really happen."""
    common = grader.common
    return Verdict(
        grader=common.id,
        kind=grader.kind,
        verdict="moot",
        deciding=common.weight > 0,
        weight=common.weight,
        reads=reads,
        reason=reason,
        at=common.at,
    )


def not_run(record: TrialRecord) -> bool:
    """True where trouble that is not the agent's kept it from answering: nothing of it can be judged."""
    trouble = record.trouble
    if record.termination == "not_started":
        return True
    if trouble is None or trouble.kind in _AGENTS_OWN or record.answer.form != "none":
        return False
    return trouble.when != "after_answer"


def no_answer(grader: Grader, record: TrialRecord, expected: str = "") -> Verdict | None:
    """The verdict of a grader that reads the answer where there is none; None where there is one to read.

    A refusal is an answer: `not contains "…"` holds on it, `exact` does not.
    """
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from answering")
    if record.answer.form == "none":
        return verdict(grader, False, "answer", actual="no answer", expected=expected)
    return None


def answer_text(record: TrialRecord, how: Normalisation) -> str:
    """The final answer; with `any_message` everything the agent said."""
    if not how.any_message:
        return record.answer.text
    said = [turn.text for turn in record.turns if turn.text]
    return "\n".join([*said, record.answer.text])


def answer_value(record: TrialRecord, how: Normalisation) -> Any:
    """The answer as data where it was asked for and given so, else its text."""
    if record.answer.parsed and record.answer.structured is not None and not how.any_message:
        return record.answer.structured
    return answer_text(record, how)
