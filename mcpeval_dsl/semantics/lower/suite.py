"""Semantics, last pass over the trees: all that one spec says, bound and typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.definitions import collect
from mcpeval_dsl.semantics.dependencies import Dependencies
from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.semantics.lower.agents import lower_host, lower_model
from mcpeval_dsl.semantics.lower.arms import lower_arm
from mcpeval_dsl.semantics.lower.checks import lower_check
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.environments import lower_environment
from mcpeval_dsl.semantics.lower.gates import lower_comparison, lower_gate, lower_scorecard
from mcpeval_dsl.semantics.lower.harvests import lower_harvest
from mcpeval_dsl.semantics.lower.loops import Table, lower_loop, lower_table
from mcpeval_dsl.semantics.lower.matrix import Matrix, lower_matrix
from mcpeval_dsl.semantics.lower.servers import CatalogueDraft, lower_annotations, lower_server
from mcpeval_dsl.semantics.lower.tasks import LoweredTask, TaskSettings, lower_task
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.model import (
    Check,
    Comparison,
    Environment,
    Gate,
    Harvest,
    Host,
    Let,
    Loop,
    Model,
    Policy,
    Server,
    Unsupported,
    Weight,
)
from mcpeval_dsl.semantics.symbols import Symbol, defined_name, name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Directive, NamedBinding, Statement, SyntaxTree

SHARED = frozenset(
    {"let", "server", "environment", "annotations", "model", "host", "judge", "harvest", "table", "profile", "arm"}
)


@dataclass(slots=True)
class Parts:
    """Everything lowered, before it is put together."""

    settings: dict[str, Any] = field(default_factory=dict)
    task_settings: TaskSettings = field(default_factory=TaskSettings)
    servers: list[Server] = field(default_factory=list)
    catalogues: dict[str, CatalogueDraft] = field(default_factory=dict)
    environments: list[Environment] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    judges: set[str] = field(default_factory=set)
    hosts: list[Host] = field(default_factory=list)
    arms: list[Arm] = field(default_factory=list)
    lets: list[Let] = field(default_factory=list)
    harvests: list[tuple[Harvest, Symbol]] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    tasks: list[LoweredTask] = field(default_factory=list)
    matrix: Matrix | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    gate: Gate = field(default_factory=Gate)
    weights: tuple[Weight, ...] = ()
    unsupported: list[Unsupported] = field(default_factory=list)
    dependencies: Dependencies = field(default_factory=Dependencies)
    suite: Directive | None = None
    assumed_judge: str | None = None


def lower_parts(ctx: Context, trees: Sequence[SyntaxTree], main: SyntaxTree) -> Parts:
    """Bind and type everything; definitions before tasks, whatever their order in the text."""
    collect(ctx, trees, main)
    parts = Parts()
    _suite_block(ctx, parts, main)
    shared = [s for tree in trees for s in tree.statements if _keyword(s) in SHARED]
    for statement in shared:
        with ctx.statement(statement) as alive:
            if alive:
                _definition(ctx, parts, statement)
    _matrix(ctx, parts, main)
    _settings(ctx, parts)
    lists = {let.name: let.value for let in parts.lets}
    for statement in main.statements:
        with ctx.statement(statement) as alive:
            if alive and isinstance(statement, Directive):
                _after(ctx, parts, statement, lists)
    _idle_profiles(ctx, parts)
    return parts


def _idle_profiles(ctx: Context, parts: Parts) -> None:
    """A profile no task takes is bound on its own, so that its mistakes are found all the same."""
    for symbol in list(ctx.of("profile").values()):
        if not symbol.used and isinstance(symbol.statement, Directive):
            with ctx.statement(symbol.statement):
                lower_task(ctx, symbol.statement, TaskSettings(judge=parts.settings.get("judge")), None)


def _keyword(statement: Statement) -> str:
    if isinstance(statement, Directive):
        return statement.name.text
    return statement.keyword.text if isinstance(statement, NamedBinding) else ""


def _definition(ctx: Context, parts: Parts, statement: Statement) -> None:
    if isinstance(statement, NamedBinding):
        _value(ctx, parts, statement)
        return
    assert isinstance(statement, Directive)
    named = defined_name(statement)
    if named is None:
        raise Unlowerable(statement.name.span, "a name after the keyword")
    match statement.name.text:
        case "server":
            parts.servers.append(lower_server(ctx, statement))
        case "annotations":
            lower_annotations(ctx, statement, parts.catalogues)
        case "model":
            parts.models.append(lower_model(ctx, statement))
        case "judge":
            parts.models.append(lower_model(ctx, statement))
            parts.judges.add(named[0])
        case "host":
            parts.hosts.append(lower_host(ctx, statement))
        case "arm":
            parts.arms.append(lower_arm(ctx, statement))
        case "environment" | "table":
            _carrier(ctx, parts, statement, named[0])


def _carrier(ctx: Context, parts: Parts, statement: Directive, name: str) -> None:
    """An environment or table: others depend on what it mentions."""
    kind = statement.name.text
    symbol = ctx.symbols.get(kind, {}).get(name)
    if symbol is None or symbol.statement is not statement:
        return
    with ctx.collecting() as uses:
        if kind == "environment":
            parts.environments.append(lower_environment(ctx, symbol, statement))
        else:
            parts.tables[name] = lower_table(ctx, statement)
    parts.dependencies.add(symbol, uses)


def _value(ctx: Context, parts: Parts, statement: NamedBinding) -> None:
    name = name_text(statement.name)
    symbol = ctx.values.names.get(name)
    if symbol is None or symbol.statement is not statement:
        return
    default = _only_environment(ctx, parts)
    more: list[tuple[Symbol, Span]] = []
    with ctx.collecting() as uses:
        if symbol.kind == "let":
            value = lower_value(ctx, ctx.values, statement.value)
            parts.lets.append(Let(name, value, statement.span.location()))
        else:
            parts.harvests.append((lower_harvest(ctx, ctx.values, statement, name, default), symbol))
            environment = ctx.of("environment").get(default) if default else None
            if environment is not None:
                more.append((environment, statement.name.span))
    parts.dependencies.add(symbol, uses, more)


def _only_environment(ctx: Context, parts: Parts) -> str | None:
    """The suite's default environment; without one, the only one there is."""
    environments = ctx.of("environment")
    chosen: str | None = parts.settings.get("environment")
    return chosen or (next(iter(environments)) if len(environments) == 1 else None)


def _suite_block(ctx: Context, parts: Parts, main: SyntaxTree) -> None:
    for statement in main.statements:
        if isinstance(statement, Directive) and statement.name.text == "suite":
            parts.suite = parts.suite or statement
    suite = parts.suite
    if suite is None:
        return
    for line in suite.block.statements if suite.block else ():
        with ctx.statement(line) as alive:
            if alive and isinstance(line, Directive):
                _suite_line(ctx, parts, line)


def _suite_line(ctx: Context, parts: Parts, line: Directive) -> None:
    match line.name.text:
        case "trials" | "seed":
            parts.settings[line.name.text] = int(only(line).number().value)
        case "policy":
            parts.settings["policy"] = only(line).name().text
        case "judge":
            name = only(line).name()
            ctx.name(("judge", "model"), name)
            parts.settings["judge"] = name.text
        case "splits":
            words = only(line)
            words.take("heldout")
            parts.settings["heldout_share"] = float(words.number().value)
            if words.take("by"):
                parts.settings["heldout_by"] = words.name().text
            words.end()
        case "defaults":
            parts.settings["defaults"] = line.block.statements if line.block else ()
            _default_environment(ctx, parts)
        case _:
            raise Unlowerable(line.name.span, "a directive of `suite`")


def _default_environment(ctx: Context, parts: Parts) -> None:
    for line in parts.settings["defaults"]:
        if isinstance(line, Directive) and line.name.text == "environment" and (named := defined_name(line)):
            with ctx.statement(line) as alive:
                if alive:
                    ctx.name(("environment",), only(line).name())
                    parts.settings["environment"] = named[0]


def _settings(ctx: Context, parts: Parts) -> None:
    visible: dict[str, None] = {}
    for server in parts.servers:
        if not server.private:
            visible[server.catalog or server.name] = None
    judge = parts.settings.get("judge")
    if judge is None and len(parts.judges) == 1:
        judge = next(iter(parts.judges))
    if judge is None:
        able = [m.name for m in parts.models if m.driver in ("anthropic", "litellm")]
        judge = parts.assumed_judge = able[0] if len(able) == 1 else None
    parts.task_settings = TaskSettings(
        parts.settings.get("defaults", ()),
        parts.settings.get("trials", 1),
        judge,
        parts.assumed_judge is not None,
        cast(Policy, parts.settings.get("policy", "deny")),
        tuple(visible),
    )


def _matrix(ctx: Context, parts: Parts, main: SyntaxTree) -> None:
    for statement in main.statements:
        if isinstance(statement, Directive) and statement.name.text == "matrix":
            with ctx.statement(statement) as alive:
                if alive:
                    parts.matrix = lower_matrix(ctx, statement)


def _after(ctx: Context, parts: Parts, statement: Directive, lists: dict[str, Expression]) -> None:
    """What may mention any definition."""
    match statement.name.text:
        case "task":
            _task(ctx, parts, statement, None)
        case "for":
            _for(ctx, parts, statement, lists)
        case "gate":
            parts.gate = lower_gate(ctx, statement)
        case "scorecard":
            parts.weights = lower_scorecard(ctx, statement)
        case "lift" | "compare":
            parts.comparisons.append(lower_comparison(ctx, statement))
        case "check":
            parts.checks.append(lower_check(ctx, statement, _only_environment(ctx, parts)))
        case _:
            return


def _task(ctx: Context, parts: Parts, statement: Directive, loop: tuple[Loop, Symbol] | None) -> None:
    lowered = lower_task(ctx, statement, parts.task_settings, loop)
    if lowered is not None:
        parts.tasks.append(lowered)


def _for(ctx: Context, parts: Parts, statement: Directive, lists: dict[str, Expression]) -> None:
    with ctx.collecting() as uses:
        loop = lower_loop(ctx, statement, parts.tables, lists)
    parts.dependencies.add(loop[1], uses)
    for inner in _block(statement):
        with ctx.statement(inner) as alive:
            if not alive:
                continue
            if isinstance(inner, Directive) and inner.name.text == "task":
                _task(ctx, parts, inner, loop)
            elif isinstance(inner, Directive) and inner.name.text == "environment":
                at = inner.span.location()
                parts.unsupported.append(Unsupported("an environment for each row", at))
            else:
                raise Unlowerable(inner.span, "`task`")


def _block(statement: Directive) -> Iterator[Statement]:
    if statement.block is not None:
        yield from statement.block.statements
