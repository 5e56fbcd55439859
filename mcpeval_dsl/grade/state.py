"""Grader `state`: a condition on a source, a truth or a harvest, as read at the end of the trial."""

from __future__ import annotations

from mcpeval_dsl.grade.judged import judged
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.readings import before_reading, failed
from mcpeval_dsl.grade.saying import scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import State
from mcpeval_dsl.values.evaluate import described, evaluate
from mcpeval_dsl.values.model import EvaluationError, ReadingFailed, Scope
from mcpeval_dsl.values.sources import source_key, sources_in


def grade(grader: State, record: TrialRecord, services: GradeServices) -> Verdict:
    early = before_reading(grader, record)
    if early is not None:
        return early
    scope = scope_of(record, services)
    try:
        result = judged(grader.condition, scope, grader.common.normalisation)
    except ReadingFailed as problem:
        refused = failed(grader, problem.reading, "the state", _expected(grader, scope))
        if refused is not None:
            return refused
        raise
    calls = _calls(grader, scope)
    return verdict(
        grader,
        result.holds,
        "state",
        actual=result.actual,
        expected=result.expected,
        reason=result.missing,
        evidence=calls,
    )


def _calls(grader: State, scope: Scope) -> tuple[str, ...]:
    keys = (source_key(source, scope) for source in sources_in(grader.condition))
    return tuple(call for key in keys if key in scope.readings for call in scope.readings[key].calls)


def _expected(grader: State, scope: Scope) -> str:
    try:
        return described(grader.condition.operator, evaluate(grader.condition.right, scope), None)
    except EvaluationError:
        return ""
