"""Semantics, lowering: what a check requires of an answer: its class, status, headers, error, time, or result."""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.variables import ERROR_CLASSES
from mcpeval_dsl.semantics.expressions import Condition, Expression, ListOf, Literal, Ref, Requirement
from mcpeval_dsl.semantics.lower.conditions import lower_condition, within
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.symbols import Scope, word
from mcpeval_dsl.syntax.tree import Comparison, Directive, ListValue, String, Value

HEADERS = "headers"
"""Name under which the headers of an answer stand, by lower-case name."""


def requirement_of_answer(ctx: Context, scope: Scope, statement: Directive) -> Requirement:
    """`require CONDITION`, `require header "NAME" CONDITION`."""
    if len(statement.groups) != 1:
        raise Unlowerable(statement.span, "one condition: `require class == none`")
    words = Words.of(statement)
    header = words.take("header") is not None
    comparison = words.comparison()
    if header:
        condition = _of_header(ctx, scope, comparison)
    elif word(comparison.left) == "class":
        condition = _of_class(ctx, comparison)
    else:
        lowered = lower_condition(ctx, scope, comparison)
        condition = replace(lowered, left=_whole(lowered.left))
        tolerance = within(ctx, scope, words)
        condition = condition if tolerance is None else replace(condition, within=tolerance)
    because = words.string().value if words.take("because") else ""
    words.end()
    return Requirement(condition, because, statement.span.location())


def _of_header(ctx: Context, scope: Scope, comparison: Comparison) -> Condition:
    """`header "WWW-Authenticate" ~ /…/`; a header that is not there is an empty text."""
    if not isinstance(comparison.left, String):
        raise Unlowerable(comparison.left.span, 'the name of a header in quotes: `header "WWW-Authenticate" ~ /…/`')
    lowered = lower_condition(ctx, scope, comparison)
    return replace(lowered, left=Ref((HEADERS, comparison.left.value.lower()), comparison.left.span.location()))


def _of_class(ctx: Context, comparison: Comparison) -> Condition:
    """`class == none`, `class in [tool_error, protocol_error]`."""
    right = comparison.right
    chosen = ListOf(tuple(_class(ctx, i) for i in right.items)) if isinstance(right, ListValue) else _class(ctx, right)
    operator = " ".join(comparison.operator.split())
    if operator not in ("==", "!=", "in", "not in"):
        raise Unlowerable(comparison.span, "`class ==`, `class !=` or `class in [ … ]`")
    left = Ref(("class",), comparison.left.span.location())
    return Condition(left, operator, chosen, None, comparison.span.location())  # type: ignore[arg-type]  # one of the four


def _class(ctx: Context, value: Value) -> Expression:
    text = value.value if isinstance(value, String) else word(value)
    if text is None:
        raise Unlowerable(value.span, "an error class, or `none`")
    if text not in ERROR_CLASSES:
        nearest = closest(text, ERROR_CLASSES)
        hint = f"did you mean `{nearest}`?" if nearest else f"there are: {', '.join(ERROR_CLASSES)}"
        body = "A condition that no call can meet says nothing."
        ctx.problems.report(
            "MCPE264", value.span, f"no error class is named `{text}`", body, hint, meant=(text, nearest)
        )
    return Literal(text)


def _whole(left: Expression) -> Expression:
    """`error` alone is its text, `latency` the time of the call."""
    name = left.path[0] if isinstance(left, Ref) and len(left.path) == 1 else ""
    part = {"error": "text", "latency": "mean"}.get(str(name))
    return replace(left, path=(name, part)) if isinstance(left, Ref) and part is not None else left


__all__ = ["HEADERS", "requirement_of_answer"]
