"""Grader `exact`: the answer equals the value, after the normalisation that the spec names."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import PLAIN, same
from mcpeval_dsl.grade.saying import answer_text, answer_value, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Exact, Normalisation
from mcpeval_dsl.values.decode import json_container
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import short


def grade(grader: Exact, record: TrialRecord, services: GradeServices) -> Verdict:
    expected = evaluate(grader.expected, scope_of(record, services))
    wanted = f"not {short(expected)}" if grader.negated else short(expected)
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    equal = equals(record, expected, grader.common.normalisation)
    actual = short(answer_value(record, grader.common.normalisation))
    return verdict(grader, equal != grader.negated, "answer", actual=actual, expected=wanted)


def equals(record: TrialRecord, expected: Any, how: Normalisation) -> bool:
    """The answer as data, as text, or (for an expected object or list) as JSON text equals the value."""
    if same(answer_value(record, how), expected, how):
        return True
    text = answer_text(record, how)
    if same(text, expected, how):
        return True
    read = json_container(text) if isinstance(expected, list | dict) else None
    if read is not None and same(read, expected, how):
        return True
    return how == PLAIN and isinstance(expected, bool) and text.strip() == str(expected).lower()
