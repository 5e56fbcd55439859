"""Semantics, lowering: the gate, the scorecard's weights, and comparisons of arms or versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal as Word
from typing import cast

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.metrics import SEGMENTS
from mcpeval_dsl.semantics.expressions import Condition
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.model import Comparison, Gate, GateRule, Weight
from mcpeval_dsl.semantics.symbols import name_text, word
from mcpeval_dsl.syntax import tree
from mcpeval_dsl.syntax.one_line import one_line
from mcpeval_dsl.syntax.tree import CallSuffix, Directive, Field, Glob, ListValue, Metric, Number, Ref, Value

ORDERS: Mapping[str, Word["==", "!=", "<", "<=", ">", ">="]] = {
    "==": "==",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}


def lower_gate(ctx: Context, statement: Directive) -> Gate:
    """`gate { require METRIC OP VALUE [where COND] … }`."""
    rules = []
    for line in statement.block.statements if statement.block else ():
        with ctx.statement(line) as alive:
            if not alive:
                continue
            if not isinstance(line, Directive) or line.name.text != "require":
                raise Unlowerable(line.span, "`require METRIC OP VALUE`")
            rules.append(_rule(ctx, line))
    return Gate(tuple(rules), True, statement.span.location())


def _rule(ctx: Context, line: Directive) -> GateRule:
    words = Words.of(line)
    comparison = words.comparison("`METRIC OP VALUE`")
    operator = ORDERS.get(comparison.operator)
    if operator is None or not isinstance(comparison.right, Number):
        raise Unlowerable(comparison.span, "a metric, an order and a number")
    metric, bound, arguments = _metric(ctx, comparison.left)
    scope = ctx.values.child(cell=True)
    where: list[Condition] = []
    because = ""
    while (option := words.take("where", "because")) is not None:
        if option == "where":
            where.append(lower_condition(ctx, scope, words.comparison()))
        else:
            because = words.string().value
    words.end()
    for group in line.groups[1:]:
        more = Words.group(group)
        more.take("where")
        where.append(lower_condition(ctx, scope, more.comparison()))
        more.end()
    return GateRule(
        metric=metric,
        operator=operator,
        value=float(comparison.right.value),
        unit=comparison.right.unit,
        bound=bound,
        arguments=arguments,
        where=tuple(where),
        baseline=_baseline(line),
        because=because,
        text=one_line(line.span.text),
        at=line.span.location(),
    )


def _baseline(line: Directive) -> str | None:
    for inner in line.block.statements if line.block else ():
        if isinstance(inner, Directive) and inner.name.text == "baseline":
            return only(inner).string().value
    return None


def _metric(ctx: Context, value: Value) -> tuple[str, Word["low", "high"] | None, tuple[str, ...]]:
    """Name, bound and arguments of `lift.low`, `lift(both, cli)`, `pass^3`."""
    if isinstance(value, Metric):
        return value.text, None, ()
    if not isinstance(value, Ref):
        raise Unlowerable(value.span, "a metric")
    parts = [value.root.text]
    arguments: list[str] = []
    for postfix in value.postfixes:
        if isinstance(postfix, Field) and not isinstance(postfix.name, Glob):
            parts.append(name_text(postfix.name))
        elif isinstance(postfix, CallSuffix):
            arguments = [_argument(ctx, parts[0], argument) for argument in postfix.arguments]
        else:
            raise Unlowerable(postfix.span, "a metric")
    bound: Word["low", "high"] | None = None
    if parts[-1] in ("low", "high") and len(parts) > 1:
        bound = "low" if parts.pop() == "low" else "high"
    name = ".".join(parts)
    return name, bound, tuple(arguments)


def _argument(ctx: Context, metric: str, argument: tree.Argument) -> str:
    value = argument.value
    text = word(value)
    if text is None:
        raise Unlowerable(argument.span, "a name")
    if metric in ("lift", "compare"):
        ctx.named(("arm", "server", "model", "host"), text, value.span)
    return text


def lower_scorecard(ctx: Context, statement: Directive) -> tuple[Weight, ...]:
    """`scorecard { task_success 40%; … }`."""
    weights = []
    for line in statement.block.statements if statement.block else ():
        with ctx.statement(line) as alive:
            if alive and isinstance(line, Directive):
                weights.append(Weight(line.name.text, float(only(line).number().value)))
    return tuple(weights)


def lower_comparison(ctx: Context, statement: Directive) -> Comparison:
    """`lift A over B [by …]`, `compare A over B [by …]`."""
    words = only(statement)
    treatment = words.name()
    if not words.take("over"):
        raise Unlowerable(words.place, f"`{statement.name.text} A over B`")
    baseline = words.name()
    kinds = ("arm",) if statement.name.text == "lift" else ("server", "model", "host", "arm")
    for name in (treatment, baseline):
        ctx.name(kinds, name)  # type: ignore[arg-type]  # both tuples hold kinds only
    by: tuple[str, ...] = ()
    if words.take("by"):
        value = words.value()
        items = value.items if isinstance(value, ListValue) else (value,)
        by = tuple(text for item in items if (text := _axis(ctx, item)) is not None)
    words.end()
    if treatment.text == baseline.text:
        title = f"`{treatment.text}` is compared with itself"
        ctx.problems.report("MCPE359", baseline.span, title, "", "name another one behind `over`, or take the line out")
    kind = cast('Word["lift", "compare"]', statement.name.text)
    return Comparison(kind, treatment.text, baseline.text, by, statement.span.location())


def _axis(ctx: Context, item: Value) -> str | None:
    """What differences are told apart by; an error where there is nothing of that name."""
    text = word(item)
    known = dict.fromkeys((*SEGMENTS, "tags", *ctx.dimensions))
    if text is not None and text not in known and not ctx.problems.may_be_lost(text, ctx.files):
        nearest = closest(text, known)
        hint = (
            f"did you mean `{nearest}`?" if nearest else f"write one of {', '.join(f'`{each}`' for each in SEGMENTS)}"
        )
        ctx.problems.report("MCPE264", item.span, f"no axis is named `{text}`", "", hint, meant=(text, nearest))
    return text
