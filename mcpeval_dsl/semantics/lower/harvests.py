"""Semantics, lowering: harvests and truths."""

from __future__ import annotations

from typing import Literal as Word
from typing import cast

from mcpeval_dsl.semantics.expressions import Entry, Requirement
from mcpeval_dsl.semantics.lower.conditions import requirement
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.needs import lower_needs
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.model import Harvest, Need, Truth
from mcpeval_dsl.semantics.symbols import Scope, Symbol, name_text
from mcpeval_dsl.syntax.tree import Binding, Directive, NamedBinding, Statement

Reading = Word["json", "text", "python", "yaml", "lines"]


class _Body:
    """What the block of a harvest or truth says."""

    __slots__ = ("bindings", "needs", "permit", "read", "requires", "scope")

    def __init__(self) -> None:
        self.bindings: list[Entry] = []
        self.requires: list[Requirement] = []
        self.needs: list[Need] = []
        self.read: Reading | None = None
        self.scope: Word["run", "trial"] = "run"
        self.permit: str | None = None


def _body(ctx: Context, scope: Scope, statement: NamedBinding) -> _Body:
    body = _Body()
    inner = scope.child(subject=True)
    for line in statement.block.statements if statement.block else ():
        with ctx.statement(line) as alive:
            if alive:
                _line(ctx, inner, body, line)
    return body


def _line(ctx: Context, inner: Scope, body: _Body, line: Statement) -> None:
    if isinstance(line, Binding):
        body.bindings.append(Entry(line.name.text, lower_value(ctx, inner, line.value)))
        inner.names[line.name.text] = Symbol("binding", line.name.text, line.name.span, line)
        return
    if not isinstance(line, Directive):
        raise Unlowerable(line.span, "`name = …`, `require`, `read`, `needs`, `scope` or `permit`")
    match line.name.text:
        case "require":
            body.requires.append(requirement(ctx, inner, line))
        case "read":
            body.read = cast(Reading, only(line).name().text)
        case "needs":
            body.needs.extend(lower_needs(ctx, inner, line))
        case "scope":
            body.scope = cast('Word["run", "trial"]', only(line).name().text)
        case "permit":
            words = only(line)
            words.take("because")
            body.permit = words.string().value
        case _:
            raise Unlowerable(line.name.span, "`name = …`, `require`, `read`, `needs`, `scope` or `permit`")


def lower_harvest(ctx: Context, scope: Scope, statement: NamedBinding, id: str, environment: str | None) -> Harvest:
    """One harvest; `depends_on` and `row` are filled when all uses are known."""
    value = lower_value(ctx, scope, statement.value)
    body = _body(ctx, scope, statement)
    return Harvest(
        id=id,
        name=name_text(statement.name),
        source=value,
        read=body.read,
        bindings=tuple(body.bindings),
        requires=tuple(body.requires),
        needs=tuple(body.needs),
        scope=body.scope,
        permit=body.permit,
        environment=environment,
        at=statement.span.location(),
    )


def lower_truth(ctx: Context, scope: Scope, statement: NamedBinding) -> Truth:
    value = lower_value(ctx, scope, statement.value)
    body = _body(ctx, scope, statement)
    return Truth(
        name=name_text(statement.name),
        source=value,
        read=body.read,
        bindings=tuple(body.bindings),
        requires=tuple(body.requires),
        at=statement.span.location(),
    )
