"""Semantics, lowering: call patterns, one language for expect, may, never, annotations, calls, fault, inject, undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.catalogue import KnownTool
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.expressions import (
    AnyPattern,
    ArgumentPattern,
    Behaviour,
    CallPattern,
    Combined,
    EffectPattern,
    Operator,
)
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.known import check_argument, find_tool, tools_like
from mcpeval_dsl.semantics.lower.references import check_fields
from mcpeval_dsl.semantics.lower.values import lower_pattern_text, lower_value
from mcpeval_dsl.semantics.symbols import Scope, Symbol, name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import (
    Argument,
    CallSuffix,
    Comparison,
    Field,
    Glob,
    Group,
    Item,
    Number,
    Ref,
    String,
)

BehaviourName: TypeAlias = Literal["refusal", "question", "confirmation", "recovery"]
CombinatorName: TypeAlias = Literal[
    "any", "ordered", "optional", "none", "only", "errors", "exactly", "at_least", "at_most"
]


def lower_groups(
    ctx: Context, scope: Scope, groups: Sequence[Group], catalogue: str | None = None
) -> tuple[AnyPattern, ...]:
    """`PATTERN, PATTERN …`."""
    found = []
    for group in groups:
        if len(group.items) != 1:
            raise Unlowerable(group.items[1].span, "one call pattern between commas")
        found.append(lower_pattern(ctx, scope, group.items[0], catalogue))
    return tuple(found)


def lower_pattern(ctx: Context, scope: Scope, item: Item, catalogue: str | None = None) -> AnyPattern:
    """One pattern; `catalogue` is whose tools bare names mean inside `annotations`."""
    at = item.span.location()
    if isinstance(item, Glob):
        return CallPattern(item.text, catalogue, at=at)
    if isinstance(item, String):
        return _call(ctx, scope, item.value, item.span, catalogue, None)
    if not isinstance(item, Ref):
        raise Unlowerable(item.span, "a call pattern: a tool, a glob, or `any(…)` and its like")
    root = item.root
    if not item.postfixes:
        return _bare(ctx, scope, item, catalogue)
    first = item.postfixes[0]
    if isinstance(first, CallSuffix):
        if len(item.postfixes) > 1:
            raise Unlowerable(item.postfixes[1].span, "nothing after the arguments of a call pattern")
        if isinstance(root, Glob):
            return _call(ctx, scope, root.text, root.span, catalogue, first)
        if root.text in COMBINATORS:
            return _combined(ctx, scope, item, first, catalogue)
        return _named(ctx, scope, item, first, catalogue)
    if isinstance(first, Field):
        return _qualified(ctx, scope, item, first)
    raise Unlowerable(first.span, "a call pattern")


def _bare(ctx: Context, scope: Scope, ref: Ref, catalogue: str | None) -> AnyPattern:
    text = ref.root.text
    at = ref.span.location()
    if isinstance(ref.root, Glob):
        return CallPattern(text, catalogue, at=at)
    if text in BEHAVIOURS:
        return Behaviour(cast(BehaviourName, text), at)
    if text in EFFECT_CLASSES or text == "confirm":
        return EffectPattern(text, at)
    symbol = scope.find(text)
    if symbol is not None and symbol.kind == "loop variable":
        ctx.use(symbol, ref.span)
        return CallPattern("*", catalogue, (), Bound((text,), at), at)
    return _call(ctx, scope, text, ref.span, catalogue, None, ref.root.span)


def _named(ctx: Context, scope: Scope, ref: Ref, suffix: CallSuffix, catalogue: str | None) -> AnyPattern:
    bare = [a for a in suffix.arguments if a.name is None and not isinstance(a.value, Comparison)]
    if bare and len(bare) == len(suffix.arguments):
        nearest = closest(ref.root.text, COMBINATORS)
        hint = f"did you mean `{nearest}(…)`?" if nearest else "arguments are `name: value` or `name OP value`"
        title = f"`{ref.root.text}` combines no patterns"
        body = "Combinators are " + ", ".join(f"`{name}`" for name in COMBINATORS) + "."
        ctx.problems.report("MCPE256", ref.root.span, title, body, hint, meant=(ref.root.text, nearest))
        return CallPattern(ref.root.text, catalogue, at=ref.span.location())
    return _call(ctx, scope, ref.root.text, ref.span, catalogue, suffix, ref.root.span)


def _qualified(ctx: Context, scope: Scope, ref: Ref, field: Field) -> AnyPattern:
    root = ref.root.text
    at = ref.span.location()
    suffix: CallSuffix | None = None
    if len(ref.postfixes) > 1:
        last = ref.postfixes[1]
        if len(ref.postfixes) > 2 or not isinstance(last, CallSuffix):
            return _from_value(ctx, scope, ref)
        suffix = last
    symbol = scope.find(root)
    is_server = root in ctx.of("server") or root in ctx.of("catalogue")
    if symbol is not None and (symbol.kind == "loop variable" or not is_server):
        return _from_value(ctx, scope, ref)
    ctx.named(("server", "catalogue"), root, ref.root.span)
    if isinstance(field.name, Glob):
        known = tools_like(ctx, root if is_server else None, field.name.text)
        arguments = _arguments(ctx, scope, known, field.name.text, suffix)
        return CallPattern(field.name.text, root, arguments, None, at)
    return _call(ctx, scope, name_text(field.name), ref.span, root if is_server else None, suffix, field.name.span)


def _from_value(ctx: Context, scope: Scope, ref: Ref) -> AnyPattern:
    """`q.tool`: the tool's name comes from a row."""
    at = ref.span.location()
    path: list[str | int] = [ref.root.text]
    steps: list[tuple[str | int | None, Span]] = []
    arguments: tuple[ArgumentPattern, ...] = ()
    for postfix in ref.postfixes:
        if isinstance(postfix, Field) and not isinstance(postfix.name, Glob):
            path.append(name_text(postfix.name))
            steps.append((path[-1], postfix.name.span))
        elif isinstance(postfix, CallSuffix) and postfix is ref.postfixes[-1]:
            arguments = _arguments(ctx, scope, [], "*", postfix)
        else:
            raise Unlowerable(postfix.span, "a field that holds a tool's name")
    symbol = scope.find(ref.root.text)
    if symbol is not None:
        ctx.use(symbol, ref.root.span)
        check_fields(ctx, symbol, steps)
        _must_vary(ctx, symbol, ref)
    return CallPattern("*", None, arguments, Bound(tuple(path), at), at)


def _must_vary(ctx: Context, symbol: Symbol, ref: Ref) -> None:
    if symbol.kind not in ("loop variable", "let", "harvest"):
        title = f"`{ref.root.text}` is a {symbol.kind}, not a server or a row"
        ctx.problems.report("MCPE251", ref.root.span, title, "A pattern names `server.tool` or `tool`.", "")


def _call(
    ctx: Context,
    scope: Scope,
    tool: str,
    span: Span,
    server: str | None,
    suffix: CallSuffix | None,
    tool_span: Span | None = None,
) -> CallPattern:
    known = tools_like(ctx, server, tool) if "*" in tool else find_tool(ctx, server, tool, tool_span or span)
    return CallPattern(tool, server, _arguments(ctx, scope, known, tool, suffix), None, span.location())


def _arguments(
    ctx: Context, scope: Scope, known: list[KnownTool], tool: str, suffix: CallSuffix | None
) -> tuple[ArgumentPattern, ...]:
    if suffix is None:
        return ()
    found = []
    for argument in suffix.arguments:
        found.append(_argument(ctx, scope, argument))
        if known and argument.name is not None:
            check_argument(ctx, known, tool, argument, pattern=True)
    return tuple(found)


def _argument(ctx: Context, scope: Scope, argument: Argument) -> ArgumentPattern:
    if argument.name is None or isinstance(argument.value, Comparison):
        raise Unlowerable(argument.span, "an argument of a call pattern is `name: value` or `name OP value`")
    operator = "==" if argument.operator == ":" else " ".join(argument.operator.split())
    read = lower_pattern_text if operator in ("~", "!~") else lower_value
    value = read(ctx, scope, argument.value)
    return ArgumentPattern(name_text(argument.name), cast(Operator, operator), value)


def _combined(ctx: Context, scope: Scope, ref: Ref, suffix: CallSuffix, catalogue: str | None) -> AnyPattern:
    combinator = COMBINATORS[ref.root.text]
    arguments = list(suffix.arguments)
    count: int | None = None
    if combinator.counted:
        first = arguments.pop(0).value if arguments else None
        if not isinstance(first, Number) or not isinstance(first.value, int):
            raise Unlowerable(suffix.span, f"a whole number first: `{combinator.example}`")
        count = first.value
    patterns = []
    for argument in arguments:
        if argument.name is not None or isinstance(argument.value, Comparison):
            raise Unlowerable(argument.span, f"call patterns: `{combinator.example}`")
        patterns.append(lower_pattern(ctx, scope, argument.value, catalogue))
    if not patterns or (combinator.most is not None and len(patterns) > combinator.most):
        raise Unlowerable(suffix.span, f"call patterns: `{combinator.example}`")
    return Combined(cast(CombinatorName, combinator.name), tuple(patterns), count, ref.span.location())
