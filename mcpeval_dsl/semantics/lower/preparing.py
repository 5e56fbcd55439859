"""Semantics, lowering: `prepare` of a server."""

from __future__ import annotations

from mcpeval_dsl.semantics.expressions import RunStep
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.network import lower_network
from mcpeval_dsl.semantics.lower.steps import lower_steps
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.preparing import Checkout, Preparation
from mcpeval_dsl.semantics.symbols import Scope, Symbol
from mcpeval_dsl.syntax.tree import Directive, Statement

FOLDER = "prepared"


def preparation_among(statements: tuple[Statement, ...]) -> Directive | None:
    """The `prepare` line of a server, if it has one."""
    lines = (line for line in statements if isinstance(line, Directive) and line.name.text == "prepare")
    return next(lines, None)


def with_folder(scope: Scope) -> Scope:
    """The scope of a server that is prepared: it may name the folder."""
    inner = scope.child()
    inner.names[FOLDER] = Symbol("variable", FOLDER, None)
    return inner


def lower_preparation(ctx: Context, scope: Scope, line: Directive) -> Preparation:
    """`prepare { checkout "v1"; run "npm" "ci"; network "packages.example.org" }`."""
    checkout: Checkout | None = None
    steps: list[RunStep] = []
    network: tuple[str, ...] = ()
    for inner in line.block.statements if line.block else ():
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if not isinstance(inner, Directive):
                raise Unlowerable(inner.span, "`checkout`, `run` or `network`")
            match inner.name.text:
                case "checkout":
                    checkout = _checkout(ctx, inner)
                case "network":
                    network = (*network, *lower_network(ctx, inner))
                case "run":
                    steps += [step for step in lower_steps(ctx, scope, (inner,)) if isinstance(step, RunStep)]
                case _:
                    raise Unlowerable(inner.name.span, "`checkout`, `run` or `network`")
    if checkout is None and not steps and not ctx.problems.failed:
        title = "`prepare` makes nothing: it has neither `checkout` nor `run`"
        ctx.problems.report("MCPE357", line.span, title, "", 'write `prepare { checkout "v1.4.0" }`, or take it out')
    return Preparation(checkout, tuple(steps), network, line.span.location())


def _checkout(ctx: Context, line: Directive) -> Checkout:
    words = only(line)
    text = words.string()
    if not text.value or any(letter.isspace() for letter in text.value):
        title = f"`{text.value}` names no commit, tag or branch" if text.value else "`checkout` names no commit"
        ctx.problems.report("MCPE357", text.span, title, "", 'write for example `checkout "v1.4.0"`')
    return Checkout(text.value, line.span.location())
