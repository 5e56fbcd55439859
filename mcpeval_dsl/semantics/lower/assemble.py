"""Semantics, lowering: puts the lowered parts together and fills in what only the whole knows."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import replace

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.dependencies import report_cycles
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.lower.calibration import calibrations
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.matrix import Matrix, expand
from mcpeval_dsl.semantics.lower.suite import Parts
from mcpeval_dsl.semantics.lower.tasks import LoweredTask
from mcpeval_dsl.semantics.model import (
    Catalogue,
    Cell,
    Harvest,
    Host,
    Model,
    Task,
    TypedSuite,
    Unsupported,
)
from mcpeval_dsl.semantics.symbols import Symbol, defined_name
from mcpeval_dsl.semantics.task_parts import user_model
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import SyntaxTree


@dataclass(frozen=True, slots=True)
class Lowered:
    """The suite with the parts it came from; rules look at both."""

    suite: TypedSuite
    parts: Parts
    ctx: Context
    main: SyntaxTree


def assemble(ctx: Context, parts: Parts, main: SyntaxTree) -> Lowered:
    """One typed suite."""
    _task_edges(ctx, parts)
    report_cycles(parts.dependencies, ctx.problems)
    tasks = tuple(_task(ctx, parts, lowered) for lowered in parts.tasks)
    harvests = tuple(_harvest(parts, harvest, symbol, tasks) for harvest, symbol in parts.harvests)
    matrix = parts.matrix or _implied(ctx, parts)
    cells = _cells(ctx, parts, matrix)
    named = defined_name(parts.suite) if parts.suite is not None else None
    title = ""
    if parts.suite is not None and parts.suite.groups and len(parts.suite.groups[0].items) > 1:
        title = getattr(parts.suite.groups[0].items[1], "value", "")
    suite = TypedSuite(
        name=named[0] if named else posixpath.basename(main.file.path).removesuffix(".mcpe"),
        title=title,
        path=main.file.path,
        seed=parts.settings.get("seed", 0),
        trials=parts.task_settings.trials,
        judge=parts.task_settings.judge,
        policy=parts.task_settings.policy,
        heldout_share=parts.settings.get("heldout_share", 0.0),
        heldout_by=parts.settings.get("heldout_by"),
        servers=tuple(parts.servers),
        catalogues=_catalogues(parts),
        environments=tuple(parts.environments),
        models=tuple(parts.models),
        hosts=_hosts(parts, cells),
        arms=tuple(parts.arms),
        lets=tuple(parts.lets),
        harvests=harvests,
        tasks=tasks,
        cells=cells,
        comparisons=tuple(parts.comparisons),
        checks=tuple(parts.checks),
        gate=parts.gate,
        weights=parts.weights,
        calibrations=calibrations(ctx),
        unsupported=(*parts.unsupported, *ctx.unsupported, *matrix.unsupported, *_refused(parts, cells)),
        files=tuple(dict.fromkeys((*(file.path for file in ctx.files), *ctx.texts))),
        fixtures=tuple(sorted(ctx.fixtures)),
        at=None if parts.suite is None else parts.suite.span.location(),
    )
    return Lowered(suite, parts, ctx, main)


def _task_edges(ctx: Context, parts: Parts) -> None:
    """A task's harvests depend on what they mention and on the task's environment."""
    for lowered in parts.tasks:
        environment = ctx.of("environment").get(lowered.task.environment or "")
        for harvest in lowered.task.harvests:
            uses = lowered.harvest_uses.get(harvest.id, {})
            symbol = _local(lowered, harvest)
            if symbol is not None:
                more = [] if environment is None else [(environment, lowered.span)]
                parts.dependencies.add(symbol, uses, more)


def _local(lowered: LoweredTask, harvest: Harvest) -> Symbol | None:
    return lowered.harvest_symbols.get(harvest.id)


def _harvest(parts: Parts, harvest: Harvest, symbol: Symbol, tasks: tuple[Task, ...]) -> Harvest:
    """Without a default environment it is read in that of the tasks that use it, where they agree."""
    environment = harvest.environment
    if environment is None:
        places = {task.environment for task in tasks if harvest.id in task.uses}
        environment = places.pop() if len(places) == 1 else None
    return replace(harvest, environment=environment, depends_on=_needed(parts, symbol))


def _needed(parts: Parts, symbol: Symbol) -> tuple[str, ...]:
    """Ids of the harvests a harvest reads from."""
    _, edges = parts.dependencies.edges.get(id(symbol), (symbol, []))
    return tuple(h for h in parts.dependencies.harvests(target for target, _ in edges) if h != symbol.id)


def _task(ctx: Context, parts: Parts, lowered: LoweredTask) -> Task:
    task = lowered.task
    environment = task.environment
    rows: set[str] = set()
    harvests = []
    for harvest in task.harvests:
        symbol = _local(lowered, harvest)
        used = [use[0] for use in lowered.harvest_uses.get(harvest.id, {}).values()]
        by_row = any(u is lowered.variable or u.id in rows for u in used)
        if by_row:
            rows.add(harvest.id)
        needed = () if symbol is None else _needed(parts, symbol)
        harvests.append(replace(harvest, environment=environment, depends_on=needed, row=by_row))
    mentioned = [use[0] for use in lowered.uses.values()]
    _check_environment(ctx, lowered)
    return replace(task, harvests=tuple(harvests), uses=parts.dependencies.harvests(mentioned))


def _check_environment(ctx: Context, lowered: LoweredTask) -> None:
    """A value of an environment's steps is there only for tasks in that environment."""
    if ctx.problems.earlier:
        return
    for symbol, span in lowered.uses.values():
        if symbol.kind != "environment" or symbol.name == lowered.task.environment:
            continue
        if not _is_value(span):
            continue
        actual = lowered.task.environment
        title = f"`{symbol.name}` is not the environment of the task `{lowered.task.name}`"
        body = "Steps of an environment give values only to the trials that start in it."
        hint = f"write `environment {symbol.name}` in the task" + (f" instead of `{actual}`" if actual else "")
        ctx.problems.report("MCPE320", span, title, body, hint)


def _is_value(span: Span) -> bool:
    """True for `desk.login.id`, False for the name after `environment`."""
    text = span.file.text
    return text[span.end : span.end + 1] in (".", "[")


def _catalogues(parts: Parts) -> tuple[Catalogue, ...]:
    """Annotations by catalogue; those written for one version of several count for its catalogue too."""
    found: dict[str, Catalogue] = {}
    for server in parts.servers:
        name = server.catalog or server.name
        for key in dict.fromkeys((name, server.name)):
            draft = parts.catalogues.get(key)
            if draft is None and key != name:
                continue
            earlier = found.get(name, Catalogue(name))
            annotations = draft.annotations if draft is not None and key not in found else []
            merged = (*earlier.annotations, *(a for a in annotations if a not in earlier.annotations))
            trusted = earlier.trust_hints or (draft is not None and draft.trust_hints) or server.trust_hints
            found[name] = Catalogue(name, merged, trusted)
    return tuple(found.values())


def _implied(ctx: Context, parts: Parts) -> Matrix:
    """Without a matrix: every model in every host; judges and players of users only when there are no others."""
    matrix = Matrix()
    own = [m for m in parts.models if m.name not in parts.judges]
    others = {parts.task_settings.judge, *(user_model(entry.task) for entry in parts.tasks)}
    agents = [m for m in own if m.name not in others] or own
    main = [m for m in agents if not _imported(ctx, "model", m.name)] or agents
    hosts = [h.name for h in parts.hosts if not _imported(ctx, "host", h.name)] or ["loop"]
    matrix.axes["model"] = [Literal(m.name) for m in main]
    matrix.axes["host"] = [Literal(name) for name in hosts]
    return matrix


def _imported(ctx: Context, kind: str, name: str) -> bool:
    symbol = ctx.symbols.get(kind, {}).get(name)
    return symbol is not None and symbol.imported


def _cells(ctx: Context, parts: Parts, matrix: Matrix) -> tuple[Cell, ...]:
    if "model" not in matrix.axes:
        implied = _implied(ctx, parts)
        matrix.axes = {"model": implied.axes["model"], **matrix.axes}
    if not matrix.axes["model"]:
        _no_model(ctx, parts)
        return ()
    if "host" not in matrix.axes:
        names = [h.name for h in parts.hosts if not _imported(ctx, "host", h.name)] or ["loop"]
        matrix.axes["host"] = [Literal(name) for name in names]
    arms = [arm.name for arm in parts.arms if not _imported(ctx, "arm", arm.name)]
    if arms and "arm" not in matrix.axes:
        matrix.axes["arm"] = [Literal(name) for name in arms]
    for axis in ("model", "host"):
        for value in matrix.axes[axis]:
            symbol = ctx.symbols.get(axis, {}).get(str(getattr(value, "value", "")))
            if symbol is not None:
                symbol.used = True
    return expand(ctx, matrix)


def _no_model(ctx: Context, parts: Parts) -> None:
    if not parts.tasks or parts.suite is None or ctx.problems.failed:
        return
    span = parts.suite.name.span
    body = "Trials need a model to run the agent; a scripted one will do."
    hint = 'add `model canned { script "scripts/canned.yaml" }` or another driver'
    ctx.problems.report("MCPE303", span, "no model is defined", body, hint)


def _hosts(parts: Parts, cells: tuple[Cell, ...]) -> tuple[Host, ...]:
    """Declared hosts, and the default `loop` where a cell uses it undeclared."""
    names = {host.name for host in parts.hosts}
    missing = dict.fromkeys(cell.host for cell in cells if cell.host not in names)
    return (*parts.hosts, *(Host(name) for name in missing))


def _refused(parts: Parts, cells: tuple[Cell, ...]) -> list[Unsupported]:
    """What these cells need and `run` does not do yet, each at its place."""
    found: list[Unsupported] = []
    used_hosts = {cell.host for cell in cells}
    used_models = {cell.model for cell in cells}
    found += [Unsupported(f"the external host `{h.agent}`", h.at) for h in _external(parts.hosts, used_hosts)]
    found += [Unsupported("the driver `local`", m.at) for m in _local_models(parts.models, used_models)]
    found += [Unsupported("`oauth`", server.at) for server in parts.servers if server.oauth_flow]
    return found


def _external(hosts: Iterable[Host], used: set[str]) -> list[Host]:
    return [host for host in hosts if host.name in used and host.agent != "loop"]


def _local_models(models: Iterable[Model], used: set[str]) -> list[Model]:
    return [model for model in models if model.name in used and model.driver == "local"]
