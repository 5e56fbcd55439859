"""Semantics, lowering: preconditions."""

from __future__ import annotations

from mcpeval_dsl.semantics.expressions import Condition, Literal, Operator
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.references import lookup
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.model import Need
from mcpeval_dsl.semantics.symbols import Scope, name_text, word
from mcpeval_dsl.syntax.tree import Comparison, Directive, Field, Glob, Ref, String, Value


def lower_needs(ctx: Context, scope: Scope, statement: Directive) -> list[Need]:
    """`needs COND`, `secret "X"`, `binary "git"`, `healthy server`, `harvest x`, `tool server.tool has "arg"`."""
    found = []
    for group in statement.groups:
        words = Words.group(group)
        found.append(_need(ctx, scope, words))
        words.end()
    return found


def _need(ctx: Context, scope: Scope, words: Words) -> Need:
    at = words.span.location()
    kind = words.take("secret", "binary", "healthy", "harvest", "tool")
    if kind == "secret":
        return Need("secret", words.string().value, at=at)
    if kind == "binary":
        return Need("binary", words.string().value, at=at)
    if kind == "healthy":
        name = words.name()
        ctx.name(("server", "catalogue"), name)
        return Need("healthy", name.text, at=at)
    if kind == "harvest":
        name = words.name()
        symbol = scope.find(name.text)
        if symbol is None or symbol.kind != "harvest":
            ctx.name(("harvest",), name)
            return Need("harvest", name.text, at=at)
        lookup(ctx, scope, name.text, name.span)
        return Need("harvest", symbol.id or name.text, at=at)
    if kind == "tool":
        return _tool(ctx, scope, words)
    return Need("condition", "", lower_condition(ctx, scope, words.comparison()), at)


def _tool(ctx: Context, scope: Scope, words: Words) -> Need:
    """`tool git.git_log has "start_timestamp"`: the condition is over the tool's argument names."""
    at = words.span.location()
    item = words.item("a tool")
    if isinstance(item, Comparison):
        name = _tool_name(ctx, item.left)
        if item.operator.split()[-1] != "has" or not isinstance(item.right, String):
            raise Unlowerable(item.right.span, '`tool server.tool has "argument"`')
        operator: Operator = "has" if item.operator == "has" else "not has"
        condition = Condition(Bound(("arguments",), at), operator, Literal(item.right.value), None, at)
        return Need("tool", name, condition, at)
    return Need("tool", _tool_name(ctx, item), None, at)


def _tool_name(ctx: Context, value: Value) -> str:
    if (bare := word(value)) is not None:
        return bare
    if isinstance(value, String):
        return value.value
    if isinstance(value, Ref) and len(value.postfixes) == 1 and isinstance(field := value.postfixes[0], Field):
        ctx.named(("server", "catalogue"), value.root.text, value.root.span)
        if not isinstance(field.name, Glob):
            return f"{value.root.text}.{name_text(field.name)}"
    raise Unlowerable(value.span, "`server.tool`")
