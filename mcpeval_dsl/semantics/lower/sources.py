"""Semantics, lowering: calls in values: tool calls, the other sources, secrets and functions."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, SOURCE_FUNCTIONS
from mcpeval_dsl.semantics.expressions import (
    Command,
    Entry,
    Expression,
    FileText,
    FileTree,
    Http,
    Literal,
    ObjectOf,
    Resource,
    Secret,
    Source,
    Sql,
    ToolCall,
)
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.known import check_call
from mcpeval_dsl.semantics.lower.references import check_function
from mcpeval_dsl.semantics.lower.values import apply, lower_value, positional
from mcpeval_dsl.semantics.symbols import Scope, name_text, noun
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Argument, CallSuffix, Comparison, Field, Glob, Ref, String

SOURCES = ToolCall | Sql | FileText | FileTree | Command | Http | Resource


def lower_call(ctx: Context, scope: Scope, ref: Ref, suffix: CallSuffix) -> Expression:
    """`server.tool(…)`, `sql(…)` and its like, `secret(…)`, or a function."""
    if ref.postfixes[0] is not suffix:
        field = ref.postfixes[0]
        assert isinstance(field, Field)
        return tool_call(ctx, scope, ref, field, suffix)
    name = ref.root.text
    if name == "secret":
        return _secret(ctx, ref, suffix)
    if name not in SOURCE_FUNCTIONS:
        return apply(ctx, scope, ref, suffix)
    function = FUNCTIONS[name]
    allowed = {p.name for p in function.parameters if p.named}
    plain: list[Argument] = []
    extra: dict[str, Expression] = {}
    for argument in suffix.arguments:
        if argument.name is None:
            plain.append(argument)
        else:
            _named_argument(ctx, scope, name, argument, allowed, extra)
    if not check_function(ctx, name, len(plain), ref.root.span):
        return Literal(None)
    values = positional(ctx, scope, CallSuffix(tuple(plain), suffix.span)) if name != "resource" else ()
    return _source(ctx, scope, ref, plain, values, extra)


def _named_argument(
    ctx: Context,
    scope: Scope,
    function: str,
    argument: Argument,
    allowed: set[str],
    extra: dict[str, Expression],
) -> None:
    assert argument.name is not None
    name = name_text(argument.name)
    if name not in allowed:
        nearest = closest(name, allowed)
        hint = f"did you mean `{nearest}:`?" if nearest else f"see `{function}` in docs/reference/functions.md"
        title = f"`{function}` takes no `{name}:`"
        body = FUNCTIONS[function].doc
        ctx.problems.report("MCPE257", argument.name.span, title, body, hint, meant=(name, nearest))
        return
    if argument.operator != ":" or isinstance(argument.value, Comparison):
        raise Unlowerable(argument.span, f"`{name}: value`")
    extra[name] = lower_value(ctx, scope, argument.value)


def _source(
    ctx: Context,
    scope: Scope,
    ref: Ref,
    plain: list[Argument],
    values: tuple[Expression, ...],
    extra: dict[str, Expression],
) -> Expression:
    at = ref.span.location()
    name = ref.root.text
    if name == "sql":
        if "on" not in extra:
            title = "`sql` does not say which database"
            ctx.problems.report("MCPE257", ref.root.span, title, "", 'add `on: "path of the database file"`')
            return Literal(None)
        return Sql(values[0], extra["on"], at)
    if name == "file":
        return FileText(values[0], at)
    if name == "files":
        return FileTree(values[0], at)
    if name == "command":
        return Command(values, at)
    if name == "http":
        headers = extra.get("headers")
        entries = headers.entries if isinstance(headers, ObjectOf) else ()
        return Http(values[0], values[1], extra.get("body"), entries, extra.get("auth"), at)
    return _resource(ctx, scope, ref, plain)


def _resource(ctx: Context, scope: Scope, ref: Ref, plain: list[Argument]) -> Expression:
    at = ref.span.location()
    last = plain[-1].value
    if isinstance(last, Comparison):
        raise Unlowerable(last.span, "a URI")
    server: str | None = None
    if len(plain) == 2:
        first = plain[0].value
        if not isinstance(first, Ref) or first.postfixes:
            raise Unlowerable(plain[0].span, "the name of a server")
        server = first.root.text
        ctx.named(("server", "catalogue"), server, first.span)
    return Resource(lower_value(ctx, scope, last), server, at)


def _secret(ctx: Context, ref: Ref, suffix: CallSuffix) -> Expression:
    if not check_function(ctx, "secret", len(suffix.arguments), ref.root.span):
        return Literal(None)
    value = suffix.arguments[0].value
    if not isinstance(value, String) or "{{" in value.value:
        raise Unlowerable(suffix.arguments[0].span, 'the name of an environment variable in quotes: `secret("TOKEN")`')
    return Secret(value.value, ref.span.location())


def tool_call(ctx: Context, scope: Scope, ref: Ref, field: Field, suffix: CallSuffix) -> Expression:
    """`server.tool(a: 1)`; the server and, with a lock, the tool and its arguments are checked."""
    root = ref.root
    if isinstance(field.name, Glob):
        raise Unlowerable(field.span, "the name of one tool (a glob stands in call patterns only)")
    tool = name_text(field.name)
    known = ctx.of("server").get(root.text) or ctx.of("catalogue").get(root.text)
    if known is None and (symbol := scope.find(root.text)) is not None:
        symbol.used = True
        title = f"`{root.text}` is {noun(symbol.kind)}, so it has no tool `{tool}` to call"
        nearest = closest(root.text, [*ctx.of("server"), *ctx.of("catalogue")])
        hint = f"did you mean the server `{nearest}`?" if nearest else "put the name of a server before the dot"
        body = "A call is `server.tool(argument: value)`."
        ctx.problems.report("MCPE251", root.span, title, body, hint, meant=(root.text, nearest))
    else:
        ctx.named(("server", "catalogue"), root.text, root.span)
    entries = tuple(_entry(ctx, scope, argument) for argument in suffix.arguments)
    end = suffix.span.end
    call = ToolCall(root.text, tool, entries, Span(ref.span.file, ref.span.start, end).location())
    if known is not None:
        check_call(ctx, call, field, suffix)
    return call


def _entry(ctx: Context, scope: Scope, argument: Argument) -> Entry:
    if argument.name is None or argument.operator != ":" or isinstance(argument.value, Comparison):
        raise Unlowerable(argument.span, "an argument of a call is `name: value`")
    return Entry(name_text(argument.name), lower_value(ctx, scope, argument.value))


def as_source(expression: Expression, where: str, span: Span) -> Source:
    """The expression as a source; raises Unlowerable for a plain value."""
    if isinstance(expression, SOURCES):
        return expression
    raise Unlowerable(span, f"{where} is a tool call, sql(…), file(…), files(…), command(…), http(…) or resource(…)")
