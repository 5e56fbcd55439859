"""Semantics, lowering: values become expressions."""

from __future__ import annotations

from mcpeval_dsl.semantics.expressions import (
    CONSTANTS,
    Access,
    Apply,
    Capture,
    Entry,
    Expression,
    ListOf,
    Literal,
    ObjectOf,
    Pattern,
    Select,
    Subject,
)
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.references import (
    check_fields,
    check_function,
    lookup,
    lower_text,
    template,
)
from mcpeval_dsl.semantics.lower.regexes import check_jsonpath, check_regex
from mcpeval_dsl.semantics.symbols import Scope, name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import (
    CallSuffix,
    Comparison,
    Field,
    Glob,
    JsonPath,
    ListValue,
    Number,
    ObjectValue,
    Postfix,
    Ref,
    Regex,
    String,
    Value,
)


def lower_value(ctx: Context, scope: Scope, value: Value) -> Expression:
    """Any value. A regex becomes a capture over the subject; a JSONPath selects from it."""
    if isinstance(value, String):
        return lower_text(ctx, scope, value)
    if isinstance(value, Number):
        return Literal(value.value, value.unit)
    if isinstance(value, Ref):
        return lower_ref(ctx, scope, value)
    if isinstance(value, JsonPath):
        return lower_path(ctx, scope, value)
    if isinstance(value, ListValue):
        return ListOf(tuple(lower_value(ctx, scope, item) for item in value.items))
    if isinstance(value, ObjectValue):
        return ObjectOf(tuple(Entry(name_text(p.key), lower_value(ctx, scope, p.value)) for p in value.pairs))
    if isinstance(value, Regex):
        check_regex(ctx, value.pattern, value.flags, value.span)
        return Capture(value.pattern, value.flags, at=value.span.location())
    wanted = "a value (a glob stands in call patterns only)" if isinstance(value, Glob) else "a value"
    raise Unlowerable(value.span, wanted)


def lower_pattern_text(ctx: Context, scope: Scope, value: Value) -> Expression:
    """What stands right of `~`: a regex, a raw text as one, or a value that holds one."""
    if isinstance(value, Regex):
        check_regex(ctx, value.pattern, value.flags, value.span)
        return Pattern(value.pattern, value.flags)
    if isinstance(value, String) and (not value.has_templates or "{{" not in value.value):
        check_regex(ctx, value.value, "", value.span)
        return Pattern(value.value)
    return lower_value(ctx, scope, value)


def lower_path(ctx: Context, scope: Scope, path: JsonPath) -> Expression:
    if path.text == "$":
        return Subject()
    check_jsonpath(ctx, path.text, path.span)
    names: tuple[str, ...] = ()
    if "{{" in path.text:
        offsets = range(path.span.start, path.span.end + 1)
        inner = template(ctx, scope, path.text, offsets, path.span)
        names = getattr(inner, "names", ())
    return Select(path.text, None, names, path.span.location())


def lower_ref(ctx: Context, scope: Scope, ref: Ref) -> Expression:
    """A name, a function or a tool call, with what follows it."""
    from mcpeval_dsl.semantics.lower.sources import lower_call  # calls hold values, values hold calls

    root = ref.root
    if isinstance(root, Glob):
        raise Unlowerable(ref.span, "a value (a glob stands in call patterns only)")
    if not ref.postfixes:
        if root.text in CONSTANTS:
            return Literal(CONSTANTS[root.text])
        lookup(ctx, scope, root.text, root.span)
        return Bound((root.text,), ref.span.location())
    first = ref.postfixes[0]
    if isinstance(first, CallSuffix):
        base = lower_call(ctx, scope, ref, first)
        return accessed(ctx, scope, base, ref.postfixes[1:])
    if len(ref.postfixes) > 1 and isinstance(first, Field) and isinstance(ref.postfixes[1], CallSuffix):
        base = lower_call(ctx, scope, ref, ref.postfixes[1])
        return accessed(ctx, scope, base, ref.postfixes[2:])
    return _path(ctx, scope, ref)


def _path(ctx: Context, scope: Scope, ref: Ref) -> Expression:
    root = ref.root
    symbol = lookup(ctx, scope, root.text, root.span)
    path: list[str | int] = [root.text]
    steps: list[tuple[str | int | None, Span]] = []
    rest: tuple[Postfix, ...] = ()
    for index, postfix in enumerate(ref.postfixes):
        key = static_key(postfix)
        if key is None:
            rest = ref.postfixes[index:]
            break
        path.append(key)
        steps.append((key, postfix.name.span if isinstance(postfix, Field) else postfix.span))
    if symbol is not None:
        check_fields(ctx, symbol, steps)
    return accessed(ctx, scope, Bound(tuple(path), ref.span.location()), rest)


def static_key(postfix: Postfix) -> str | int | None:
    """The field or index of a step that is known from the text."""
    if isinstance(postfix, Field):
        return None if isinstance(postfix.name, Glob) else name_text(postfix.name)
    if isinstance(postfix, CallSuffix):
        return None
    if isinstance(postfix.value, Number) and isinstance(postfix.value.value, int):
        return postfix.value.value
    if isinstance(postfix.value, String) and "{{" not in postfix.value.value:
        return postfix.value.value
    return None


def accessed(ctx: Context, scope: Scope, base: Expression, postfixes: tuple[Postfix, ...]) -> Expression:
    """`base.field[index]`."""
    for postfix in postfixes:
        key = static_key(postfix)
        if key is not None:
            base = Access(base, Literal(key))
        elif isinstance(postfix, Field | CallSuffix):
            raise Unlowerable(postfix.span, "a field or an index")
        else:
            base = Access(base, lower_value(ctx, scope, postfix.value))
    return base


def apply(ctx: Context, scope: Scope, ref: Ref, suffix: CallSuffix) -> Expression:
    """A plain function over positional arguments."""
    name = ref.root.text
    if not check_function(ctx, name, len(suffix.arguments), ref.root.span):
        ctx_quiet = ctx.problems.quiet
        ctx.problems.quiet = True
        arguments = positional(ctx, scope, suffix)
        ctx.problems.quiet = ctx_quiet
        return Apply(name, arguments, ref.span.location())
    if name == "all":
        inner = positional(ctx, scope, suffix)[0]
        if isinstance(inner, Capture):
            return Capture(inner.pattern, inner.flags, True, None, inner.at)
        raise Unlowerable(suffix.span, "a regular expression: `all(/…/)`")
    return Apply(name, positional(ctx, scope, suffix), ref.span.location())


def positional(ctx: Context, scope: Scope, suffix: CallSuffix) -> tuple[Expression, ...]:
    """Arguments without names."""
    found = []
    for argument in suffix.arguments:
        if argument.name is not None or isinstance(argument.value, Comparison):
            raise Unlowerable(argument.span, "a value without a name")
        found.append(lower_value(ctx, scope, argument.value))
    return tuple(found)
