"""Grader `one_of`: the answer equals one of the values."""

from __future__ import annotations

from mcpeval_dsl.grade.exact import equals
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.saying import answer_value, missing, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import OneOf
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import short


def grade(grader: OneOf, record: TrialRecord, services: GradeServices) -> Verdict:
    expected = evaluate(grader.expected, scope_of(record, services))
    if not isinstance(expected, list):
        return missing(grader, "no_evidence", f"`one_of` needs a list, not {short(expected, 60)}")
    wanted = f"one of {short(expected)}"
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    how = grader.common.normalisation
    holds = any(equals(record, item, how) for item in expected)
    return verdict(grader, holds, "answer", actual=short(answer_value(record, how)), expected=wanted)
