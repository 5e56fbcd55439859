"""Semantics, lowering: `check` blocks are bound and carried whole; `run` refuses them for now."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.model import Check, Unsupported
from mcpeval_dsl.syntax.tree import Action, Directive, Statement


def lower_check(ctx: Context, statement: Directive) -> Check:
    """`check SERVER { … }`."""
    server = Words.of(statement).name()
    ctx.name(("server", "catalogue"), server)
    known, ctx.known = ctx.known, {}  # a check may call what is not there, to see the error
    for line in statement.block.statements if statement.block else ():
        _line(ctx, line)
    ctx.known = known
    at = statement.span.location()
    return Check(server.text, (Unsupported("check", at),), at)


def _line(ctx: Context, line: Statement) -> None:
    with ctx.statement(line) as alive:
        if alive and isinstance(line, Action):
            lower_value(ctx, ctx.values, line.ref)
        elif alive and isinstance(line, Directive) and line.name.text == "auth" and line.block is not None:
            for inner in line.block.statements:
                _line(ctx, inner)
