"""Semantics, lowering: `check` blocks, line by line."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal as Word
from typing import cast

from mcpeval_dsl.semantics.checks import (
    AuthCheck,
    CapabilityCheck,
    CheckLine,
    ConformanceCheck,
    LatencyCheck,
    OAuthCheck,
    OriginCheck,
    ProtocolCheck,
    SchemaCheck,
    ToolCheck,
    TransportCheck,
)
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from mcpeval_dsl.semantics.expressions import CallStep, Condition, Literal, Ref, Requirement
from mcpeval_dsl.semantics.lower.called import requirement_of_answer
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.steps import lower_call_step, step_shape
from mcpeval_dsl.semantics.lower.words import Words, names
from mcpeval_dsl.semantics.model import Check
from mcpeval_dsl.semantics.symbols import Scope, Symbol, word
from mcpeval_dsl.syntax.tree import Action, Binding, Block, Comparison, Directive, Number, Statement
from mcpeval_dsl.syntax.tree import Ref as Named

_OF_CALL = tuple(variable.name for variable in VARIABLES if "check" in variable.blocks)
_OF_FAILURE = ("class", "error", "status")
LATENCIES = ("mean", "p50", "p95", "max")


def lower_check(ctx: Context, statement: Directive, environment: str | None) -> Check:
    """`check SERVER { … }`. `environment` is the suite's default, where its calls are made."""
    server = Words.of(statement).name()
    ctx.name(("server", "catalogue"), server)
    scope = ctx.values.child()
    lines: list[CheckLine] = []
    with ctx.collecting() as uses:
        for line in statement.block.statements if statement.block else ():
            with ctx.statement(line) as alive:
                if alive:
                    lines += _lines(ctx, scope, line)
    harvests = tuple(sorted({symbol.name for symbol, _ in uses.values() if symbol.kind == "harvest"}))
    return Check(server.text, statement.span.location(), environment, tuple(lines), harvests)


def _lines(ctx: Context, scope: Scope, line: Statement) -> list[CheckLine]:
    if isinstance(line, Action | Binding):
        return [_call(ctx, scope, line)]
    if not isinstance(line, Directive):
        raise Unlowerable(line.span, "a call, `tool`, `capability`, `schema`, `protocol` …")
    at = line.span.location()
    match line.name.text:
        case "conformance":
            return [ConformanceCheck(name.text, name.span.location()) for name in names(line)]
        case "oauth":
            return [OAuthCheck(name.text, name.span.location()) for name in names(line)]  # type: ignore[arg-type]  # one of its words
        case "schema":
            return [SchemaCheck(at)]
        case "auth":
            return [_auth(ctx, scope, line)]
        case "latency":
            return [_latency(ctx, line)]
        case _:
            return [_plain(line)]


def _plain(line: Directive) -> CheckLine:
    """Lines of words and one text; the table has seen to it that each is one of its words."""
    at, words = line.span.location(), Words.of(line)
    match line.name.text:
        case "tool":
            tool = words.name().text
            return ToolCheck(tool, words.name().text == "present", at)
        case "capability":
            capability = words.name().text
            return CapabilityCheck(capability, words.name().text, at)  # type: ignore[arg-type]  # as above
        case "protocol":
            revision = words.string().value
            return ProtocolCheck(revision, words.name().text, at)  # type: ignore[arg-type]  # as above
        case "transport":
            transport = words.name().text
            return TransportCheck(transport, words.take("rejected") is not None, at)  # type: ignore[arg-type]  # as above
        case "origin":
            return OriginCheck(words.string().value, at)
        case _:
            raise Unlowerable(line.span, "a line of a `check`")


def _latency(ctx: Context, line: Directive) -> LatencyCheck:
    words = Words.of(line)
    comparison = words.comparison()
    part = word(comparison.left)
    if part not in LATENCIES or not isinstance(comparison.right, Number):
        raise Unlowerable(comparison.span, "`mean`, `p50`, `p95` or `max`, compared with a time: `p95 <= 800ms`")
    if comparison.operator not in ("<", "<="):
        raise Unlowerable(comparison.span, "`<` or `<=`: a bound on how long calls take")
    if comparison.right.unit != "time":
        raise Unlowerable(comparison.right.span, "a time such as `800ms`")
    words.take("over")
    calls = int(words.number().value)
    left = Ref(("latency", part), comparison.left.span.location())
    operator = cast('Word["<", "<="]', comparison.operator)
    bound = Literal(comparison.right.value, "time")
    condition = Condition(left, operator, bound, None, comparison.span.location())
    return LatencyCheck(condition, calls, line.span.location())


def _auth(ctx: Context, scope: Scope, line: Directive) -> AuthCheck:
    """A `require` behind a call is about that call's answer, one before any call about the first request's."""
    words = Words.of(line)
    identity = words.name().text
    named = words.string().value if identity == "scope" else ""
    inner = scope.child()
    opening: list[Requirement] = []
    calls: list[CallStep] = []
    for statement in line.block.statements if line.block else ():
        with ctx.statement(statement) as alive:
            if not alive:
                continue
            if isinstance(statement, Action | Binding):
                calls.append(_call(ctx, inner, statement))
            elif isinstance(statement, Directive) and statement.name.text == "require":
                found = requirement_of_answer(ctx, _after_call(inner).child(subject=True), statement)
                if calls:
                    calls[-1] = replace(calls[-1], requires=(*calls[-1].requires, found))
                else:
                    opening.append(found)
            else:
                raise Unlowerable(statement.span, "a call, or `require status == 401`")
    return AuthCheck(identity, named, tuple(opening), tuple(calls), line.span.location())  # type: ignore[arg-type]  # as above


def _after_call(scope: Scope) -> Scope:
    """The scope of what may be required of an answer."""
    inner = scope.child()
    for name in _OF_CALL:
        inner.names[name] = Symbol("variable", name, None)
    return inner


def _call(ctx: Context, scope: Scope, line: Action | Binding) -> CallStep:
    """A call with what is required of its result or error; a name for it is known to the lines behind."""
    inner = _after_call(scope)
    requires: list[Requirement] = []

    def take(statement: Directive) -> bool:
        requires.append(requirement_of_answer(ctx, inner.child(subject=True), statement))
        return True

    known = ctx.known
    if _wants_refusal(line.block):
        ctx.known = {}  # a check may call what is not there, to see the error
    value, name = (line.ref, None) if isinstance(line, Action) else (line.value, line.name.text)
    try:
        step = lower_call_step(ctx, inner, value, line.block, name, line.span, take)
    finally:
        ctx.known = known
    if isinstance(line, Binding):
        scope.names[line.name.text] = Symbol("step", line.name.text, line.name.span, line, step_shape(line))
    return replace(step, requires=tuple(requires))


def _wants_refusal(block: Block | None) -> bool:
    """True where something is required of the error, or of the answer's status: then the call may be wrong on purpose."""
    for statement in block.statements if block else ():
        if not isinstance(statement, Directive) or statement.name.text != "require":
            continue
        for item in (item for group in statement.groups for item in group.items):
            left = item.left if isinstance(item, Comparison) else item
            if (isinstance(left, Named) and left.root.text in _OF_FAILURE) or word(left) == "header":
                return True
    return False


__all__ = ["LATENCIES", "lower_check"]
