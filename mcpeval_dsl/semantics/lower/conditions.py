"""Semantics, lowering: comparisons, and the conditions over the cell that name enum words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import cast

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.expressions import (
    Access,
    Apply,
    Capture,
    Condition,
    Expression,
    ListOf,
    Literal,
    Operator,
    Requirement,
    Select,
    Subject,
)
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.values import lower_pattern_text, lower_value
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.symbols import Scope, word
from mcpeval_dsl.syntax.tree import Comparison, Directive, ListValue, NamedBinding, Number, String, Value


def about(expression: Expression, subject: Expression | None) -> Expression:
    """`$…` read from a source that stands before it, also inside functions and fields of them."""
    if subject is None:
        return expression
    match expression:
        case Subject():
            return subject
        case Select() | Capture():
            return replace(expression, of=subject if expression.of is None else about(expression.of, subject))
        case Access():
            return replace(expression, of=about(expression.of, subject), key=about(expression.key, subject))
        case Apply():
            return replace(expression, arguments=tuple(about(item, subject) for item in expression.arguments))
        case _:
            return expression


def reads_subject(expression: Expression) -> bool:
    """True for `$…` that no source stands before."""
    match expression:
        case Subject():
            return True
        case Select() | Capture():
            return expression.of is None or reads_subject(expression.of)
        case Access():
            return reads_subject(expression.of) or reads_subject(expression.key)
        case Apply():
            return any(reads_subject(item) for item in expression.arguments)
        case _:
            return False


def lower_condition(
    ctx: Context,
    scope: Scope,
    comparison: Comparison,
    subject: Expression | None = None,
    within: Expression | None = None,
) -> Condition:
    """`left OP right`."""
    if scope.cell and (cell := cell_condition(ctx, scope, comparison)) is not None:
        return cell
    left = about(lower_value(ctx, scope, comparison.left), subject)
    operator = cast(Operator, " ".join(comparison.operator.split()))
    if operator in ("~", "!~"):
        right = lower_pattern_text(ctx, scope, comparison.right)
    else:
        right = lower_value(ctx, scope, comparison.right)
    return Condition(left, operator, right, within, comparison.span.location())


def within(ctx: Context, scope: Scope, words: Words) -> Expression | None:
    """`within VALUE`, when it stands next. A `let` that is a percentage stays one."""
    if not words.take("within"):
        return None
    value = words.value()
    lowered = lower_value(ctx, scope, value)
    symbol = scope.find(word(value) or "")
    statement = symbol.statement if symbol is not None and symbol.kind == "let" else None
    if isinstance(statement, NamedBinding) and isinstance(statement.value, Number):
        return lower_value(ctx, ctx.values, statement.value)
    return lowered


def cell_condition(ctx: Context, scope: Scope, comparison: Comparison) -> Condition | None:
    """A condition over a dimension of the cell (`model == canned`), its right side being enum words; else None."""
    root = word(comparison.left)
    if root is None or root not in ctx.dimensions or (scope.find(root) is not None and root != "server"):
        return None
    operator = cast(Operator, " ".join(comparison.operator.split()))
    right = comparison.right
    choices = ctx.dimensions[root]
    value: Expression
    if isinstance(right, ListValue):
        value = ListOf(tuple(_choice(ctx, root, choices, item) for item in right.items))
    elif operator in ("~", "!~"):
        value = lower_pattern_text(ctx, scope, right)
    else:
        value = _choice(ctx, root, choices, right)
    left = Bound((root,), comparison.left.span.location())
    return Condition(left, operator, value, None, comparison.span.location())


def _choice(ctx: Context, dimension: str, choices: Collection[str], value: Value) -> Expression:
    text = value.value if isinstance(value, String) else word(value)
    if text is None:
        return lower_value(ctx, Scope(), value)
    lost = ctx.problems.earlier and dimension in ("tag", "cluster", "difficulty")
    if choices and text not in choices and not lost and not ctx.problems.may_be_lost(text, ctx.files):
        nearest = closest(text, choices)
        hint = (
            f"did you mean `{nearest}`?"
            if nearest
            else "there are: " + ", ".join(f"`{c}`" for c in sorted(choices)[:8])
        )
        title = f"no {dimension} is named `{text}`"
        body = "A condition that no cell can meet says nothing."
        ctx.problems.report("MCPE264", value.span, title, body, hint, meant=(text, nearest))
    kind = {"model": "model", "host": "host", "arm": "arm", "server": "server"}.get(dimension)
    if kind is not None and (symbol := ctx.symbols.get(kind, {}).get(text)) is not None:
        ctx.use(symbol, value.span)
    return Literal(text)


def requirement(ctx: Context, scope: Scope, statement: Directive) -> Requirement:
    """`require COND [because TEXT]`."""
    if len(statement.groups) != 1:
        raise Unlowerable(statement.span, "one condition: `require x == 1`")
    words = Words.of(statement)
    condition = lower_condition(ctx, scope, words.comparison())
    tolerance = within(ctx, scope, words)
    if tolerance is not None:
        condition = replace(condition, within=tolerance)
    because = words.string().value if words.take("because") else ""
    words.end()
    return Requirement(condition, because, statement.span.location())
