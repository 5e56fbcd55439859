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
                    checkout = Checkout(only(inner).string().value, inner.span.location())
                case "network":
                    network = (*network, *lower_network(ctx, inner))
                case "run":
                    steps += [step for step in lower_steps(ctx, scope, (inner,)) if isinstance(step, RunStep)]
                case _:
                    raise Unlowerable(inner.name.span, "`checkout`, `run` or `network`")
    return Preparation(checkout, tuple(steps), network, line.span.location())
