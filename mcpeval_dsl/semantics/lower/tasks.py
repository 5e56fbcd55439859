"""Semantics, lowering: one task out of `defaults`, its profiles and its own statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.semantics.definitions import report_twice
from mcpeval_dsl.semantics.expressions import FileText
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.grading import Grading
from mcpeval_dsl.semantics.lower.harvests import lower_harvest, lower_truth
from mcpeval_dsl.semantics.lower.refusals import expected_refusal
from mcpeval_dsl.semantics.lower.settings import apply_statement
from mcpeval_dsl.semantics.lower.steps import path_in
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, names
from mcpeval_dsl.semantics.model import Budget, Loop, Policy, Task
from mcpeval_dsl.semantics.symbols import Shape, Symbol, binding_names, defined_name, name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Directive, NamedBinding, Statement


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """What holds for every task of the suite."""

    defaults: tuple[Statement, ...] = ()
    trials: int = 1
    judge: str | None = None
    judge_assumed: bool = False
    policy: Policy = "deny"
    servers: tuple[str, ...] = ()


@dataclass(slots=True)
class LoweredTask:
    """A task with what later passes need and the model does not carry. `damaged`: some of it was lost to errors."""

    task: Task
    statement: Directive
    span: Span
    uses: dict[int, tuple[Symbol, Span]] = field(default_factory=dict)
    harvest_uses: dict[str, dict[int, tuple[Symbol, Span]]] = field(default_factory=dict)
    harvest_symbols: dict[str, Symbol] = field(default_factory=dict)
    variable: Symbol | None = None
    damaged: bool = False
    limit_spans: dict[str, Span] = field(default_factory=dict)
    reference_users: list[tuple[str, Span]] = field(default_factory=list)
    servers_span: Span | None = None
    assumed_judge: tuple[Span, ...] = ()


def lower_task(
    ctx: Context, statement: Directive, settings: TaskSettings, loop: tuple[Loop, Symbol] | None
) -> LoweredTask | None:
    """`task NAME ["title"] { … }`; None when it has no name."""
    named = defined_name(statement)
    if named is None:
        return None
    name, span = named
    words = Words.of(statement)
    words.name()
    title = words.string().value if words else ""
    words.end()
    lost = ctx.lost
    with ctx.collecting() as uses:
        merged = [*settings.defaults, *_profile_statements(ctx, statement), *_own(statement)]
        draft = _draft(ctx, name, settings, loop)
        _declare(ctx, draft, name, merged)
        harvest_uses = _bind(ctx, draft, name, merged)
        for line in merged:
            with ctx.statement(line) as alive:
                if alive:
                    apply_statement(draft, line)
        draft.graders.extend(expected_refusal(draft.expect, draft.grading))
        if loop is not None:
            ctx.use(loop[1], span)
    task = _finish(draft, name, title, settings, loop, statement)
    return LoweredTask(
        task,
        statement,
        span,
        uses,
        harvest_uses,
        {s.id: s for s in draft.scope.names.values() if s.kind == "harvest"},
        loop[1] if loop else None,
        ctx.lost > lost or ctx.problems.flagged(statement.span),
        draft.limit_spans,
        draft.grading.reference_users,
        draft.servers_span,
        tuple(draft.grading.assumed_spans),
    )


def _own(statement: Directive) -> tuple[Statement, ...]:
    return statement.block.statements if statement.block else ()


def _profile_statements(ctx: Context, statement: Directive) -> list[Statement]:
    found: list[Statement] = []
    for line in _own(statement):
        if isinstance(line, Directive) and line.name.text == "use":
            with ctx.statement(line) as alive:
                for profile in names(line) if alive else ():
                    symbol = ctx.name(("profile",), profile)
                    if symbol is not None and isinstance(symbol.statement, Directive):
                        found.extend(_own(symbol.statement))
    return found


def _draft(ctx: Context, name: str, settings: TaskSettings, loop: tuple[Loop, Symbol] | None) -> Draft:
    scope = ctx.values.child()
    if loop is not None:
        scope.names[loop[1].name] = loop[1]
    return Draft(ctx, name, scope, Grading(ctx, scope.child(truth=True), settings.judge, settings.judge_assumed))


def _declare(ctx: Context, draft: Draft, task: str, statements: Sequence[Statement]) -> None:
    """Names a task defines for itself: harvests, truths and canaries."""
    names = draft.scope.names
    for line in statements:
        symbol: Symbol | None = None
        if isinstance(line, NamedBinding) and line.keyword.text in ("harvest", "truth", "canary"):
            text = name_text(line.name)
            shape = Shape(dict.fromkeys(binding_names(line.block))) if binding_names(line.block) else None
            kind = line.keyword.text
            symbol = Symbol(kind, text, line.name.span, line, shape, f"{task}.{text}")  # type: ignore[arg-type]
        elif isinstance(line, Directive) and line.name.text == "canary" and (named := defined_name(line)):
            symbol = Symbol("canary", named[0], named[1], line)
        if symbol is None:
            continue
        earlier = names.get(symbol.name)
        if earlier is not None and earlier.statement is not line:
            report_twice(ctx.problems, symbol, earlier)
        names[symbol.name] = symbol


def _bind(
    ctx: Context, draft: Draft, task: str, statements: Sequence[Statement]
) -> dict[str, dict[int, tuple[Symbol, Span]]]:
    """Lower the task's harvests, truths and canaries; gives what each harvest uses."""
    all_uses: dict[str, dict[int, tuple[Symbol, Span]]] = {}
    for line in statements:
        with ctx.statement(line) as alive:
            if not alive:
                continue
            if isinstance(line, NamedBinding):
                _bind_named(ctx, draft, task, line, all_uses)
            elif isinstance(line, Directive) and line.name.text == "canary":
                _canary_file(ctx, draft, line)
            elif not isinstance(line, Directive):
                raise Unlowerable(line.span, "a directive of a task")
    return all_uses


def _bind_named(
    ctx: Context,
    draft: Draft,
    task: str,
    line: NamedBinding,
    all_uses: dict[str, dict[int, tuple[Symbol, Span]]],
) -> None:
    name = name_text(line.name)
    match line.keyword.text:
        case "harvest":
            id = f"{task}.{name}"
            with ctx.collecting() as uses:
                draft.harvests.append(lower_harvest(ctx, draft.scope, line, id, None))
            all_uses[id] = uses
        case "truth":
            draft.truths.append(lower_truth(ctx, draft.grading.scope, line))
        case "canary":
            draft.canaries.append((name, lower_value(ctx, draft.scope, line.value)))
        case _:
            raise Unlowerable(line.keyword.span, "`harvest`, `truth` or `canary`")


def _canary_file(ctx: Context, draft: Draft, line: Directive) -> None:
    words = Words.of(line)
    name = words.name().text
    if not words.take("file"):
        raise Unlowerable(words.place, '`canary NAME file "path"`')
    path = path_in(ctx, draft.scope, words.value())
    words.end()
    draft.canaries.append((name, FileText(path, line.span.location())))


def _finish(
    draft: Draft,
    name: str,
    title: str,
    settings: TaskSettings,
    loop: tuple[Loop, Symbol] | None,
    statement: Directive,
) -> Task:
    fields = dict(draft.fields)
    fields.setdefault("trials", settings.trials)
    fields.setdefault("policy", settings.policy)
    fields.setdefault("servers", settings.servers)
    return Task(
        name=name,
        title=title,
        tags=tuple(draft.tags),
        tools=tuple(draft.tools),
        hide=tuple(draft.hide),
        budget=Budget(**draft.limits),
        budget_per_turn=Budget(**draft.turn_limits),
        needs=tuple(draft.needs),
        may=tuple(draft.may),
        never=tuple(draft.never),
        expect=tuple(draft.expect),
        setup=tuple(draft.setup),
        teardown=tuple(draft.teardown),
        undo=tuple(draft.undo),
        harvests=tuple(draft.harvests),
        truths=tuple(draft.truths),
        graders=tuple(draft.graders),
        conditionals=tuple(draft.conditionals),
        simulate=tuple(draft.simulate),
        canaries=tuple(draft.canaries),
        faults=tuple(draft.faults),
        distract=tuple(draft.distract),
        injections=tuple(draft.injections),
        known_failures=tuple(draft.known_failures),
        loop=loop[0] if loop else None,
        unsupported=(*draft.unsupported, *draft.grading.unsupported),
        at=statement.span.location(),
        **fields,
    )
