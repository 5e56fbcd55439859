"""Grader `json`: a condition on the answer read as JSON (`$`). An answer that is no JSON is a no."""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.grade.judged import judged
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import Unreadable, from_json
from mcpeval_dsl.grade.saying import answer_value, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Json
from mcpeval_dsl.values.text import short


def grade(grader: Json, record: TrialRecord, services: GradeServices) -> Verdict:
    how = grader.common.normalisation
    without = no_answer(grader, record)
    if without is not None:
        return without
    value = answer_value(record, how)
    if isinstance(value, str):
        try:
            value = from_json(value)
        except Unreadable as problem:
            return verdict(grader, False, "answer", actual=short(value), expected="JSON", reason=problem.reason)
    scope = replace(scope_of(record, services), subject=value, has_subject=True, subject_text=None)
    result = judged(grader.condition, scope, how)
    return verdict(
        grader, result.holds, "answer", actual=result.actual, expected=result.expected, reason=result.missing
    )
