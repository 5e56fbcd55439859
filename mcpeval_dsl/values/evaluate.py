"""Values, the middle: what an expression or a condition is worth in a scope. Nothing is read here; sources inside an
expression have been read before, and their readings are in the scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.semantics.expressions import (
    Access,
    Apply,
    Capture,
    Command,
    Condition,
    Expression,
    FileText,
    FileTree,
    Http,
    ListOf,
    Literal,
    ObjectOf,
    Pattern,
    Ref,
    Resource,
    Secret,
    Select,
    Source,
    Sql,
    Subject,
    Template,
    ToolCall,
)
from mcpeval_dsl.values import jsonpath, regex, templates
from mcpeval_dsl.values.compare import ABSENT, Tolerance, holds, start_of
from mcpeval_dsl.values.functions import apply
from mcpeval_dsl.values.model import EvaluationError, NothingThere, Reading, ReadingFailed, Scope
from mcpeval_dsl.values.numbers import as_number
from mcpeval_dsl.values.subject import field_of, plain_text, subject_of, value_of
from mcpeval_dsl.values.text import as_text, short

SOURCES = (ToolCall, Sql, FileText, FileTree, Command, Http, Resource)


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """`actual` and `expected` are short texts for people; `missing` says why the left side has no value."""

    holds: bool
    actual: str
    expected: str
    missing: str = ""


def evaluate(expression: Expression, scope: Scope) -> Any:
    """The JSON value of an expression (`ABSENT` for `absent()`, a Pattern for a regular expression).

    Raises EvaluationError; of it NothingThere where a path or capture finds nothing, ReadingFailed where a source inside
    could not be read.
    """
    match expression:
        case Literal():
            return expression.value
        case Template():
            return templates.render(expression.text, scope)
        case Ref():
            return templates.resolve(expression.path, scope)
        case Subject():
            return _subject(scope)
        case Select():
            return _select(expression, scope)
        case Capture():
            return _capture(expression, scope)
        case Access():
            return _access(expression, scope)
        case Apply():
            return apply(expression.function, [evaluate(argument, scope) for argument in expression.arguments])
        case ListOf():
            return [evaluate(item, scope) for item in expression.items]
        case ObjectOf():
            return {entry.key: evaluate(entry.value, scope) for entry in expression.entries}
        case Pattern():
            return expression
        case Secret():
            return _secret(expression, scope)
        case _:
            return value_of(reading_of(expression, scope))


def condition(wanted: Condition, scope: Scope) -> ConditionResult:
    """Whether a condition holds, with both sides as short texts. A left side that finds nothing is as `absent()`.

    Raises EvaluationError where the right side has no value, ReadingFailed where a source could not be read.
    """
    right = evaluate(wanted.right, scope)
    tolerance = tolerance_of(wanted.within, scope)
    expected = described(wanted.operator, right, tolerance)
    try:
        left = evaluate(wanted.left, scope)
    except NothingThere as nothing:
        return ConditionResult(holds(ABSENT, wanted.operator, right), nothing.reason, expected, nothing.reason)
    answer = holds(left, wanted.operator, right, tolerance, start_of(scope.names))
    return ConditionResult(answer, short(left), expected)


def described(operator: str, right: Any, tolerance: Tolerance | None) -> str:
    """The right side of a condition for people: `== 3 within 1%`."""
    if isinstance(right, Pattern):
        text = f"/{right.pattern}/{right.flags}"
    elif right is ABSENT:
        text = "absent()"
    elif isinstance(right, list):
        text = short([None if item is ABSENT else item for item in right])
    else:
        text = short(right)
    return f"{operator} {text}" + (f" within {tolerance}" if tolerance is not None else "")


def tolerance_of(within: Expression | None, scope: Scope) -> Tolerance | None:
    """`within`: a fraction of the expected number where it is a percentage (or a text such as `1%`), else absolute."""
    if within is None:
        return None
    value = evaluate(within, scope)
    percent = isinstance(within, Literal) and within.unit == "percent"
    if isinstance(value, str) and value.strip().endswith("%"):
        value, percent = value.strip()[:-1].strip(), True
        number = as_number(value)
        number = None if number is None else number / 100
    else:
        number = as_number(value)
    if number is None or number < 0:
        raise EvaluationError(f"`within` needs a number that is not negative, not {short(value, 60)}", within)
    return Tolerance(float(number), percent)


def reading_of(source: Source, scope: Scope) -> Reading:
    """What was read of a source. Raises ReadingFailed where it never was."""
    from mcpeval_dsl.values.sources import source_key

    found = scope.readings.get(source_key(source, scope))
    if found is None:
        raise ReadingFailed("this source was not read in the trial", None, source)
    return found


def _subject(scope: Scope) -> Any:
    if not scope.has_subject:
        raise EvaluationError("`$` stands for nothing here")
    return scope.subject


def _select(expression: Select, scope: Scope) -> Any:
    path = jsonpath.rendered(expression.path, lambda text: templates.value(text, scope))
    if expression.of is None:
        return jsonpath.select(path, _subject(scope))
    if isinstance(expression.of, SOURCES):
        return jsonpath.select(path, subject_of(reading_of(expression.of, scope)))
    return jsonpath.select(path, evaluate(expression.of, scope))


def _capture(expression: Capture, scope: Scope) -> Any:
    text = _captured_text(expression, scope)
    if expression.every:
        return regex.captures(expression.pattern, expression.flags, text)
    found = regex.capture(expression.pattern, expression.flags, text)
    if found is None:
        raise NothingThere(f"/{expression.pattern}/ matches nothing", expression)
    return found


def _captured_text(expression: Capture, scope: Scope) -> str:
    if expression.of is None:
        return scope.subject_text if scope.subject_text is not None else as_text(_subject(scope))
    if isinstance(expression.of, SOURCES):
        reading = reading_of(expression.of, scope)
        subject_of(reading)
        return plain_text(reading)
    return as_text(evaluate(expression.of, scope))


def _access(expression: Access, scope: Scope) -> Any:
    key = evaluate(expression.key, scope)
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise EvaluationError(f"{short(key, 60)} is no field or index")
    if isinstance(expression.of, SOURCES):
        reading = reading_of(expression.of, scope)
        if reading.error is not None:
            raise ReadingFailed(reading.error, reading, expression)
        try:
            return field_of(reading, key)
        except KeyError:
            return templates.step(value_of(reading), key, str(key))
    return templates.step(evaluate(expression.of, scope), key, str(key))


def _secret(expression: Secret, scope: Scope) -> str:
    if expression.name not in scope.secrets:
        raise EvaluationError(f"the secret {expression.name} is not set", expression)
    return scope.secrets[expression.name]
