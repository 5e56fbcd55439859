"""Grade, conditions of `json` and `state`: as everywhere, with both sides normalised first where the spec says how."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.grade.normalise import PLAIN, Unreadable, comparable, tolerance
from mcpeval_dsl.semantics.expressions import Condition, Pattern
from mcpeval_dsl.semantics.graders import Normalisation
from mcpeval_dsl.values.compare import ABSENT, holds, start_of
from mcpeval_dsl.values.evaluate import ConditionResult, condition, described, evaluate, tolerance_of
from mcpeval_dsl.values.model import NothingThere, Scope
from mcpeval_dsl.values.text import short


def judged(wanted: Condition, scope: Scope, how: Normalisation) -> ConditionResult:
    """Like `values.evaluate.condition`. A left side that cannot be read as named does not hold.

    Raises EvaluationError where the right side has no value, or cannot be read so.
    """
    if how == PLAIN:
        return condition(wanted, scope)
    raw = evaluate(wanted.right, scope)
    within = tolerance_of(wanted.within, scope) or tolerance(how)
    expected = described(wanted.operator, raw, within)
    right = _normal(raw, how)
    try:
        left = evaluate(wanted.left, scope)
    except NothingThere as nothing:
        return ConditionResult(holds(ABSENT, wanted.operator, right), nothing.reason, expected, nothing.reason)
    try:
        found = _normal(left, how)
    except Unreadable as problem:
        return ConditionResult(False, short(left), expected, problem.reason)
    answer = holds(found, wanted.operator, right, within, start_of(scope.names))
    return ConditionResult(answer, short(left), expected)


def _normal(value: Any, how: Normalisation) -> Any:
    if value is ABSENT or value is None or isinstance(value, Pattern):
        return value
    if isinstance(value, list) and any(item is ABSENT or item is None for item in value):
        return [_normal(item, how) for item in value]
    return comparable(value, how)
