"""Semantics, lowering: servers and the spec's word about their tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from mcpeval_dsl.semantics.expressions import CallPattern, Entry, ListOf, Literal, Secret
from mcpeval_dsl.semantics.lower.addresses import look
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.environments import variables
from mcpeval_dsl.semantics.lower.network import lower_network, not_started
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.preparing import lower_preparation, preparation_among, with_folder
from mcpeval_dsl.semantics.lower.severities import severity_of
from mcpeval_dsl.semantics.lower.steps import argv
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.model import Annotation, Catalogue, Effect, Header, Server, Severity
from mcpeval_dsl.semantics.symbols import Scope, name_text
from mcpeval_dsl.syntax.tree import Directive, NamedBinding, Statement

EFFECTS = ("readonly", "additive", "destructive", "idempotent", "confirm")
_USUAL: Mapping[str, Severity] = {
    "readonly": "minor",
    "additive": "major",
    "destructive": "critical",
    "idempotent": "minor",
    "confirm": "major",
}
DRIFTS = ("descriptions", "schemas", "tools")
_CREDENTIAL = ("authorization", "x-api-key", "api-key", "cookie", "private-token")


def lower_server(ctx: Context, statement: Directive) -> Server:
    """`server NAME ["title"] { … }`."""
    words = Words.of(statement)
    name = words.name().text
    title = words.string().value if words else ""
    words.end()
    statements = statement.block.statements if statement.block else ()
    made = preparation_among(statements)
    scope = ctx.values if made is None else with_folder(ctx.values)
    fields: dict[str, Any] = {}
    headers: list[Header] = []
    for inner in statements:
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if isinstance(inner, Directive):
                _server_line(ctx, scope, inner, fields, statements)
            elif isinstance(inner, NamedBinding) and inner.keyword.text == "header":
                headers.append(lower_header(ctx, scope, inner))
            elif not (isinstance(inner, NamedBinding) and inner.keyword.text == "env"):
                raise Unlowerable(inner.span, "a directive of `server`")
    return Server(
        name=name,
        title=title,
        headers=tuple(headers),
        env=variables(ctx, scope, statements),
        at=statement.span.location(),
        **fields,
    )


def lower_header(ctx: Context, scope: Scope, line: NamedBinding) -> Header:
    value = lower_value(ctx, scope, line.value)
    name = name_text(line.name)
    if name.lower() in _CREDENTIAL and isinstance(value, Literal):
        ctx.problems.report(
            "MCPE323",
            line.value.span,
            f"the header `{name}` holds a credential in plain text",
            "A spec is read by many; credentials stay with the operator.",
            f'write `header "{name}" = secret("NAME")` and set that environment variable where it runs',
        )
    return Header(name, value)


def _server_line(
    ctx: Context, scope: Scope, line: Directive, fields: dict[str, Any], around: Sequence[Statement]
) -> None:
    words = only(line) if line.name.text not in ("protocol", "network") else Words.of(line)
    match line.name.text:
        case "network":
            fields["network"] = (*fields.get("network", ()), *lower_network(ctx, line))
            if any(isinstance(each, Directive) and each.name.text == "http" for each in around):
                not_started(ctx, line)
            return
        case "prepare":
            fields["prepare"] = lower_preparation(ctx, scope, line)
            return
        case "stdio":
            fields["argv"] = argv(ctx, scope, words)
            return
        case "http":
            fields["url"] = lower_value(ctx, scope, words.value())
            look(ctx, fields["url"], line.groups[0].span, "http", 'http "https://staging.example.com/mcp"')
        case "protocol":
            fields["protocols"] = tuple(Words.group(g).string().value for g in line.groups)
            return
        case "version":
            fields["version"] = words.string().value
        case "catalog":
            fields["catalog"] = words.name().text
        case "timeout":
            fields["timeout"] = float(words.number().value)
        case "ready":
            words.take("within")
            fields["start_timeout"] = float(words.number().value)
        case "rate":
            count = words.number().value
            words.take("per")
            fields["rate"] = float(count) / float(words.number().value)
        case "private":
            fields["private"] = True
        case "trust":
            words.take("hints")
            fields["trust_hints"] = True
        case "allow":
            words.take("drift")
            some = words.take(*DRIFTS)
            fields["allow_drift"] = (*fields.get("allow_drift", ()), *((some,) if some else DRIFTS))
        case "price":
            fields["price_per_call"] = float(words.number().value)
            words.take("per")
            words.take("call")
        case "oauth":
            fields["oauth_flow"] = words.name().text
            fields["oauth"] = _oauth(ctx, scope, line)
        case _:
            raise Unlowerable(line.name.span, "a directive of `server`")
    words.end()


def _oauth(ctx: Context, scope: Scope, line: Directive) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for inner in line.block.statements if line.block else ():
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if not isinstance(inner, Directive) or not inner.groups:
                raise Unlowerable(inner.span, "a directive of `oauth`")
            entries.append(_oauth_line(ctx, scope, inner))
    return tuple(entries)


def _oauth_line(ctx: Context, scope: Scope, line: Directive) -> Entry:
    values = [lower_value(ctx, scope, Words.group(g).value()) for g in line.groups]
    name = line.name.text
    if name in ("client_secret", "private_key") and not isinstance(values[0], Secret):
        ctx.problems.report(
            "MCPE323",
            line.groups[0].span,
            f"`{name}` holds a credential in plain text",
            "A spec is read by many; credentials stay with the operator.",
            f'write `{name} secret("NAME")`',
        )
    return Entry(name, ListOf(tuple(values)) if name == "scopes" else values[0])


@dataclass(slots=True)
class CatalogueDraft:
    """Annotations of one catalogue while blocks are added up."""

    annotations: list[Annotation] = field(default_factory=list)
    trust_hints: bool = False

    def finish(self, name: str) -> Catalogue:
        return Catalogue(name, tuple(self.annotations), self.trust_hints)


def lower_annotations(ctx: Context, statement: Directive, drafts: dict[str, CatalogueDraft]) -> None:
    """`annotations NAME { … }`; several blocks for one catalogue add up."""
    name = Words.of(statement).name()
    ctx.name(("catalogue", "server"), name)
    draft = drafts.setdefault(name.text, CatalogueDraft())
    for inner in statement.block.statements if statement.block else ():
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if not isinstance(inner, Directive):
                raise Unlowerable(inner.span, "an effect class with call patterns")
            if inner.name.text == "trust":
                draft.trust_hints = True
            elif inner.name.text in EFFECTS:
                draft.annotations.append(_annotation(ctx, inner, name.text))
            else:
                raise Unlowerable(inner.name.span, "an effect class with call patterns")


def _annotation(ctx: Context, line: Directive, catalogue: str) -> Annotation:
    patterns = lower_groups(ctx, ctx.values, line.groups, catalogue)
    severity, because = severity_of(ctx, line, _USUAL[line.name.text])
    calls = []
    for pattern in patterns:
        if not isinstance(pattern, CallPattern):
            raise Unlowerable(line.span, "tools, globs, or tools with conditions on arguments")
        calls.append(pattern)
    effect = cast(Effect, line.name.text)
    return Annotation(effect, tuple(calls), severity, because, line.span.location())
