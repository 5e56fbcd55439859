"""Semantics, lowering: `network`, the hosts that what a spec starts may reach."""

from __future__ import annotations

from mcpeval_dsl.semantics.hosts import EVERYTHING, rule_of
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.syntax.tree import Directive, String


def lower_network(ctx: Context, line: Directive) -> tuple[str, ...]:
    """Hosts as written, each checked; `all` alone for an open network."""
    words = Words.of(line)
    if words.take(EVERYTHING):
        words.end()
        return (EVERYTHING,)
    found = []
    for group in line.groups:
        words = Words.group(group)
        host = words.string("a host in quotes")
        words.end()
        if _checked(ctx, host):
            found.append(host.value)
    return tuple(found)


def not_started(ctx: Context, line: Directive) -> None:
    """Hosts of a server that is reached at a URL: nobody could keep it to them."""
    ctx.problems.report(
        "MCPE330",
        line.span,
        "a server behind a URL is not started here",
        "`network` says what a program may reach that a trial starts. A server that runs elsewhere reaches what it likes.",
        "remove `network`, or start the server with `stdio`",
    )


def _checked(ctx: Context, host: String) -> bool:
    rule = rule_of(host.value)
    if rule is None:
        ctx.problems.report(
            "MCPE329",
            host.span,
            f'"{host.value}" is not written as a host',
            "A host is a name, a name behind `*.`, or an address, with a port or without; no scheme and no path.",
            'write `"api.example.org"`, `"*.example.org:443"`, `"10.0.0.5:8080"` or `"[::1]:8080"`',
        )
    elif rule.loopback and rule.port is None:
        ctx.problems.report(
            "MCPE329",
            host.span,
            f'"{host.value}" names no port',
            "This machine is reached port by port: each is opened on its own.",
            f'write the port: `"{host.value}:5432"`',
        )
    else:
        return True
    return False
