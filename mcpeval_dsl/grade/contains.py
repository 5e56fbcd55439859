"""Grader `contains`: the answer mentions each of the values (negated: none of them)."""

from __future__ import annotations

from mcpeval_dsl.grade.mentions import mentions, unmentioned
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.saying import answer_text, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Contains
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import short


def grade(grader: Contains, record: TrialRecord, services: GradeServices) -> Verdict:
    scope = scope_of(record, services)
    expected = [evaluate(part, scope) for part in grader.expected]
    wanted = ", ".join(short(value, 120) for value in expected)
    wanted = f"none of {wanted}" if grader.negated else f"contains {wanted}"
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    how = grader.common.normalisation
    answer = answer_text(record, how)
    if grader.negated:
        found = [value for value in expected if mentions(answer, value, how)]
        return verdict(grader, not found, "answer", actual=short(answer), expected=wanted, reason=_said("has", found))
    lacking = unmentioned(answer, expected, how)
    reason = _said("lacks", lacking)
    return verdict(grader, not lacking, "answer", actual=short(answer), expected=wanted, reason=reason)


def _said(verb: str, values: list[object]) -> str:
    return f"the answer {verb} {', '.join(short(value, 80) for value in values[:5])}" if values else ""
