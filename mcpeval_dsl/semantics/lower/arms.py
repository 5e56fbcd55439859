"""Semantics, lowering: arms, with the native tools that the agent has in them."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.semantics.arms import Api, Arm, Route
from mcpeval_dsl.semantics.expressions import Entry, Literal
from mcpeval_dsl.semantics.lower.addresses import is_http
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.servers import lower_header
from mcpeval_dsl.semantics.lower.steps import included
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, names, only
from mcpeval_dsl.syntax.tree import Directive, NamedBinding


def lower_arm(ctx: Context, statement: Directive) -> Arm:
    """`arm NAME { servers …; shell …; http …; about …; timeout … }`."""
    name = Words.of(statement).name().text
    fields: dict[str, Any] = {}
    ctx.directives(statement, "arm", lambda line: _line(ctx, line, fields))
    return Arm(name=name, at=statement.span.location(), **fields)


def _line(ctx: Context, line: Directive, fields: dict[str, Any]) -> None:
    match line.name.text:
        case "servers":
            chosen = names(line)
            for server in chosen:
                ctx.name(("server", "catalogue"), server)
            fields["servers"] = tuple(n.text for n in chosen)
        case "shell":
            programs = _programs(ctx, line)
            fields["shell"] = tuple(dict.fromkeys((*fields.get("shell", ()), *programs)))
        case "http":
            fields["api"] = _api(ctx, line)
        case "about":
            words = only(line)
            fields["about"] = included(ctx, ctx.values, words)
            words.end()
        case "timeout":
            fields["timeout"] = float(only(line).number().value)
        case _:
            raise Unlowerable(line.name.span, "a directive of `arm`")


def _programs(ctx: Context, line: Directive) -> list[str]:
    """Names of programs; the arguments are the agent's."""
    found = []
    for group in line.groups:
        program = Words.group(group).string().value
        if not program or any(letter.isspace() for letter in program):
            first = (program.split() or ["grep"])[0]
            ctx.problems.report(
                "MCPE355",
                group.span,
                f"`{program}` is no name of a program" if program else "an empty text is no name of a program",
                "Each text names one program; its arguments are chosen by the agent.",
                f'write `shell "{first}"`',
            )
        found.append(program)
    return found


def _api(ctx: Context, line: Directive) -> Api:
    words = only(line)
    url = lower_value(ctx, ctx.values, words.value())
    words.end()
    if isinstance(url, Literal) and not is_http(str(url.value)):
        ctx.problems.report(
            "MCPE350",
            line.groups[0].span,
            "this is no address of an HTTP API: that is `https://` or `http://`, a host and perhaps a port",
            "Requests of the agent go to paths below it.",
            'write for example `http "https://api.example.org/v1"`',
        )
    routes: list[Route] = []
    headers: list[Entry] = []
    for inner in line.block.statements if line.block else ():
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if isinstance(inner, NamedBinding) and inner.keyword.text == "header":
                header = lower_header(ctx, ctx.values, inner)
                headers.append(Entry(header.name, header.value))
            elif isinstance(inner, Directive) and inner.name.text == "allow":
                route = only(inner)
                method = route.name().text
                asked = route.value()
                path = lower_value(ctx, ctx.values, asked)
                if isinstance(path, Literal) and not str(path.value).startswith(("/", "*")):
                    title = f"no request goes to `{path.value}`: paths begin with `/`"
                    ctx.problems.report("MCPE350", asked.span, title, "", 'write for example `allow GET "/issues/*"`')
                routes.append(Route(method, path))
                route.end()
            else:
                raise Unlowerable(inner.span, '`allow GET "/path"` or `header NAME = value`')
    return Api(url, tuple(routes), tuple(headers), line.span.location())
