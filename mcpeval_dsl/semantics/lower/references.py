"""Semantics, lowering: binds names in values and in templates to their definitions."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.diagnostics.model import Label
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics import templates
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, TEMPLATE_FUNCTIONS
from mcpeval_dsl.semantics.expressions import Expression, Literal, Template
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.symbols import Scope, Symbol, noun
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.tree import String


def lookup(ctx: Context, scope: Scope, name: str, span: Span, *, template: bool = False) -> Symbol | None:
    """The value a bare name stands for; reports a name that is none."""
    symbol = scope.find(name) or ctx.of("environment").get(name)
    if symbol is not None:
        ctx.use(symbol, span)
        if symbol.kind == "truth" and not scope.truth:
            _too_early(ctx, symbol, span)
        return symbol
    for table in ctx.symbols.values():
        other = table.get(name)
        if other is not None:
            other.used = True
            nearest = closest(name, scope.all_names())
            hint = f"did you mean `{nearest}`?" if nearest else _as_text(name, template)
            title = f"`{name}` is {noun(other.kind)}, not a value"
            body = "A bare name in a value is a reference to a value."
            ctx.problems.report("MCPE251", span, title, body, hint, meant=(name, nearest))
            return None
    if not ctx.problems.may_be_lost(name, ctx.files):
        _unknown(ctx, scope, name, span, template)
    return None


def _as_text(name: str, template: bool) -> str:
    return f"for the text write {name} without the braces" if template else f'for the text write "{name}"'


def _unknown(ctx: Context, scope: Scope, name: str, span: Span, template: bool) -> None:
    nearest = closest(name, [*scope.all_names(), *ctx.of("environment")])
    otherwise = f"{_as_text(name, template)}; else define it: `let {name} = …`"
    hint = f"did you mean `{nearest}`?" if nearest else otherwise
    body = "A bare name in a value position is a reference; a text is quoted."
    ctx.problems.report(
        "MCPE250", span, f"nothing is named `{name}` here", body, hint, group=name, meant=(name, nearest)
    )


def _too_early(ctx: Context, symbol: Symbol, span: Span) -> None:
    labels = () if symbol.span is None else (Label(symbol.span.location(), "read after the trial"),)
    ctx.problems.report(
        "MCPE302",
        span,
        f"the truth `{symbol.name}` is not known before the trial ends",
        "A truth is read after the trial, for graders only.",
        "use a `harvest` for a value that is needed earlier",
        labels=labels,
    )


def check_fields(ctx: Context, symbol: Symbol, steps: Sequence[tuple[str | int | None, Span]]) -> None:
    """Report the first field in `steps` that the definition is known not to have."""
    shape = symbol.shape
    trail = symbol.name
    for key, span in steps:
        if shape is None or not isinstance(key, str):
            return
        if key not in shape.fields:
            _unknown_field(ctx, symbol, trail, key, span, list(shape.fields))
            return
        shape = shape.fields[key]
        trail = f"{trail}.{key}"


def _unknown_field(ctx: Context, symbol: Symbol, trail: str, key: str, span: Span, fields: list[str]) -> None:
    if symbol.statement is not None and ctx.problems.flagged(symbol.statement.span):
        return
    if ctx.problems.may_be_lost(key, ctx.files):
        return
    nearest = closest(key, fields)
    if nearest:
        hint = f"did you mean `{trail}.{nearest}`?"
    elif fields:
        hint = "it has: " + ", ".join(f"`{name}`" for name in fields[:8])
    elif symbol.name == "port":
        hint = f"reserve it in the environment: `port {key}`"
    else:
        hint = f"write `{trail}` alone"
    labels = () if symbol.span is None else (Label(symbol.span.location(), f"`{symbol.name}` is defined here"),)
    title = f"`{trail}` has no field `{key}`"
    body = "Only fields that its block binds can be used."
    ctx.problems.report("MCPE252", span, title, body, hint, labels=labels, group=f"{trail}.{key}", meant=(key, nearest))


def lower_text(ctx: Context, scope: Scope, text: String) -> Expression:
    """A text: a literal, or a template whose every name is bound."""
    if not text.has_templates or "{" not in text.value:
        return Literal(text.value)
    return template(ctx, scope, text.value, text.offsets, text.span)


def file_text(ctx: Context, scope: Scope, file: SourceFile) -> Expression:
    """The text of a file a spec includes; its templates are checked in that file."""
    text = file.text
    if "{" not in text:
        return Literal(text)
    return template(ctx, scope, text, range(len(text) + 1), Span(file, 0, len(text)))


def template(ctx: Context, scope: Scope, text: str, offsets: Sequence[int], span: Span) -> Expression:
    """Check the templates of a text that stands at `offsets` of a file."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return Literal(text)
    found = templates.read(text)

    def at(start: int, end: int) -> Span:
        return Span(span.file, offsets[start], offsets[end])

    for fault in found.faults:
        body = "Texts may hold `{{ value }}` with names, fields, indexes and functions of the language."
        ctx.problems.report("MCPE255", at(fault.start, fault.end), fault.title, body, fault.hint)
    for applied in found.functions:
        check_function(ctx, applied.name, applied.arguments, at(applied.start, applied.end), template=True)
    names: dict[str, None] = {}
    for mention in found.mentions:
        name = str(mention.root.key)
        if name in ("true", "false", "null", "none", "True", "False", "None"):
            continue
        names[name] = None
        symbol = lookup(ctx, scope, name, at(mention.root.start, mention.root.end), template=True)
        if symbol is not None and mention.steps:
            check_fields(ctx, symbol, [(s.key, at(s.start, s.end)) for s in mention.steps])
    return Template(text, tuple(names), span.location())


def check_function(ctx: Context, name: str, arguments: int, span: Span, *, template: bool = False) -> bool:
    """True when the function exists and takes so many positional arguments."""
    function = FUNCTIONS.get(name)
    if function is None or (template and name not in TEMPLATE_FUNCTIONS):
        nearest = closest(name, TEMPLATE_FUNCTIONS if template else FUNCTIONS)
        hint = f"did you mean `{nearest}`?" if nearest else "see docs/reference/functions.md"
        where = " in templates" if template and function is not None else ""
        title = f"there is no function `{name}`{where}"
        if not ctx.problems.flagged(span):  # else the shape of the statement has said so
            body = "The language has a fixed list of functions."
            ctx.problems.report("MCPE256", span, title, body, hint, meant=(name, nearest))
        return False
    least, most = function.least, function.most
    if arguments < least or (most is not None and arguments > most):
        wanted = str(least) if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        title = f"`{name}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {arguments}"
        ctx.problems.report("MCPE257", span, title, function.doc, f"for example `{function.example}`")
        return False
    return True
