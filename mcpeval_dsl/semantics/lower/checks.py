"""Semantics, lowering: `check` blocks, line by line. `mcpe check` carries them out; `run` refuses them for now."""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.variables import ERROR_CLASSES, VARIABLES
from mcpeval_dsl.semantics.expressions import Condition, Expression, ListOf, Literal, Ref, Requirement
from mcpeval_dsl.semantics.lower.conditions import lower_condition, within
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.steps import lower_call_step, step_shape
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.model import (
    CapabilityCheck,
    Check,
    CheckLine,
    ProtocolCheck,
    SchemaCheck,
    ToolCheck,
    Unsupported,
)
from mcpeval_dsl.semantics.symbols import Scope, Symbol, word
from mcpeval_dsl.syntax.tree import Action, Binding, Comparison, Directive, ListValue, Statement, String, Value

_OF_CALL = tuple(variable.name for variable in VARIABLES if "check" in variable.blocks)


def lower_check(ctx: Context, statement: Directive, environment: str | None) -> Check:
    """`check SERVER { … }`. `environment` is the suite's default, where its calls are made."""
    server = Words.of(statement).name()
    ctx.name(("server", "catalogue"), server)
    known, ctx.known = ctx.known, {}  # a check may call what is not there, to see the error
    scope = ctx.values.child()
    lines: list[CheckLine] = []
    unsupported: list[Unsupported] = []
    with ctx.collecting() as uses:
        for line in statement.block.statements if statement.block else ():
            with ctx.statement(line) as alive:
                if not alive:
                    continue
                found = _line(ctx, scope, line)
                if isinstance(found, Unsupported):
                    unsupported.append(found)
                else:
                    lines.append(found)
    ctx.known = known
    unsupported += [
        Unsupported(f"the harvest `{symbol.name}` in a check", span.location())
        for symbol, span in uses.values()
        if symbol.kind == "harvest"
    ]
    return Check(server.text, tuple(unsupported), statement.span.location(), environment, tuple(lines))


def _line(ctx: Context, scope: Scope, line: Statement) -> CheckLine | Unsupported:
    if isinstance(line, Action | Binding):
        return _call(ctx, scope, line)
    if not isinstance(line, Directive):
        raise Unlowerable(line.span, "a call, `tool`, `capability`, `schema`, `protocol` …")
    at = line.span.location()
    words = Words.of(line)
    match line.name.text:
        case "tool":
            tool = words.name().text
            return ToolCheck(tool, words.name().text == "present", at)
        case "capability":
            capability = words.name().text
            return CapabilityCheck(capability, words.name().text, at)  # type: ignore[arg-type]  # one of its words
        case "schema":
            return SchemaCheck(at)
        case "protocol":
            revision = words.string().value
            return ProtocolCheck(revision, words.name().text, at)  # type: ignore[arg-type]  # one of its words
        case "auth":
            for inner in line.block.statements if line.block else ():
                if isinstance(inner, Action | Binding):
                    with ctx.statement(inner) as alive:
                        if alive:
                            _call(ctx, scope, inner)
            return Unsupported("`auth` in a check", at)
        case name:
            return Unsupported(f"`{name}` in a check", at)


def _call(ctx: Context, scope: Scope, line: Action | Binding) -> CheckLine:
    """A call with what is required of its result or error; a name for it is known to the lines behind."""
    inner = scope.child()
    for name in _OF_CALL:
        inner.names[name] = Symbol("variable", name, None)
    requires: list[Requirement] = []

    def take(statement: Directive) -> bool:
        requires.append(_requirement(ctx, inner.child(subject=True), statement))
        return True

    if isinstance(line, Action):
        step = lower_call_step(ctx, inner, line.ref, line.block, None, line.span, take)
    else:
        step = lower_call_step(ctx, inner, line.value, line.block, line.name.text, line.span, take)
        scope.names[line.name.text] = Symbol("step", line.name.text, line.name.span, line, step_shape(line))
    return replace(step, requires=tuple(requires))


def _requirement(ctx: Context, scope: Scope, statement: Directive) -> Requirement:
    if len(statement.groups) != 1:
        raise Unlowerable(statement.span, "one condition: `require class == none`")
    words = Words.of(statement)
    comparison = words.comparison()
    if word(comparison.left) == "class":
        condition = _of_class(ctx, comparison)
    else:
        lowered = lower_condition(ctx, scope, comparison)
        condition = replace(lowered, left=_text_of_error(lowered.left))
        tolerance = within(ctx, scope, words)
        condition = condition if tolerance is None else replace(condition, within=tolerance)
    because = words.string().value if words.take("because") else ""
    words.end()
    return Requirement(condition, because, statement.span.location())


def _of_class(ctx: Context, comparison: Comparison) -> Condition:
    """`class == none`, `class in [tool_error, protocol_error]`."""
    right = comparison.right
    chosen = ListOf(tuple(_class(ctx, i) for i in right.items)) if isinstance(right, ListValue) else _class(ctx, right)
    operator = " ".join(comparison.operator.split())
    if operator not in ("==", "!=", "in", "not in"):
        raise Unlowerable(comparison.span, "`class ==`, `class !=` or `class in [ … ]`")
    left = Ref(("class",), comparison.left.span.location())
    return Condition(left, operator, chosen, None, comparison.span.location())  # type: ignore[arg-type]  # as above


def _class(ctx: Context, value: Value) -> Expression:
    text = value.value if isinstance(value, String) else word(value)
    if text is None:
        raise Unlowerable(value.span, "an error class, or `none`")
    if text not in ERROR_CLASSES:
        nearest = closest(text, ERROR_CLASSES)
        hint = f"did you mean `{nearest}`?" if nearest else f"there are: {', '.join(ERROR_CLASSES)}"
        body = "A condition that no call can meet says nothing."
        ctx.problems.report("MCPE264", value.span, f"no error class is named `{text}`", body, hint)
    return Literal(text)


def _text_of_error(left: Expression) -> Expression:
    """`error` alone is its text."""
    return replace(left, path=("error", "text")) if isinstance(left, Ref) and left.path == ("error",) else left


__all__ = ["lower_check"]
