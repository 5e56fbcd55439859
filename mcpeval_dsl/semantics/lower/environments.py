"""Semantics, lowering: environments and environment variables."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.needs import lower_needs
from mcpeval_dsl.semantics.lower.network import lower_network
from mcpeval_dsl.semantics.lower.steps import lower_steps, step_shape
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.model import Environment, EnvironmentVariable, Need
from mcpeval_dsl.semantics.symbols import Scope, Shape, Symbol, defined_name, name_text
from mcpeval_dsl.syntax.tree import Binding, Directive, NamedBinding, Statement


def environment_shape(statement: Directive) -> Shape:
    """The named steps of an environment with what each binds."""
    statements = statement.block.statements if statement.block else ()
    return Shape({s.name.text: step_shape(s) for s in statements if isinstance(s, Binding)})


def ports(statement: Directive) -> Iterable[str]:
    for inner in statement.block.statements if statement.block else ():
        if isinstance(inner, Directive) and inner.name.text == "port" and (named := defined_name(inner)):
            yield named[0]


def variables(ctx: Context, scope: Scope, statements: Iterable[Statement]) -> tuple[EnvironmentVariable, ...]:
    """`env NAME = value`."""
    found = []
    for statement in statements:
        if isinstance(statement, NamedBinding) and statement.keyword.text == "env":
            with ctx.statement(statement) as alive:
                if alive:
                    value = lower_value(ctx, scope, statement.value)
                    found.append(EnvironmentVariable(name_text(statement.name), value, statement.span.location()))
    return tuple(found)


def lower_environment(ctx: Context, symbol: Symbol, statement: Directive) -> Environment:
    """One environment: its statements are its set-up, in order."""
    scope = ctx.values.child()
    statements = statement.block.statements if statement.block else ()
    needs: list[Need] = []
    run_scope = "trial"
    lock: str | None = None
    teardown: tuple[Statement, ...] = ()
    network: list[str] = []
    for inner in statements:
        if not isinstance(inner, Directive):
            continue
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            match inner.name.text:
                case "needs":
                    needs.extend(lower_needs(ctx, scope, inner))
                case "scope":
                    run_scope = only(inner).name().text
                case "lock":
                    lock = only(inner).string().value
                case "network":
                    network.extend(lower_network(ctx, inner))
                case "teardown" if inner.block is not None:
                    teardown += inner.block.statements
    steps = lower_steps(ctx, scope, statements)
    return Environment(
        name=symbol.name,
        steps=steps,
        env=variables(ctx, scope, statements),
        teardown=lower_steps(ctx, scope, teardown),
        needs=tuple(needs),
        scope="run" if run_scope == "run" else "trial",
        lock=lock,
        network=tuple(network),
        at=statement.span.location(),
    )
