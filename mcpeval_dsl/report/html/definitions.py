"""Report, the page: what was evaluated, for whoever has to judge the numbers: tasks as the spec defines them, agents, servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import Manifest
from mcpeval_dsl.semantics.expressions import Expression, Literal, Template
from mcpeval_dsl.semantics.model import Budget, Cell, Model, Task
from mcpeval_dsl.source import Location, SourceFile

SourceOf = Callable[[str], SourceFile | None]


def definitions(plan: Plan, manifest: Manifest | None, source_of: SourceOf) -> dict[str, Any]:
    """Plain data; `text` of a task is its block of the spec, where that is still what was run."""
    return {
        "tasks": [_task(task, source_of) for task in plan.tasks],
        "models": [_model(model) for model in plan.models],
        "hosts": [
            {
                "name": host.name,
                "agent": host.agent,
                "instructions": host.instructions,
                "limit": host.tool_result_limit,
                "turns": host.max_turns,
            }
            for host in plan.hosts
        ],
        "arms": [
            {
                "name": arm.name,
                "servers": list(arm.servers),
                "shell": list(arm.shell),
                "api": said(arm.api.url) if arm.api is not None else "",
            }
            for arm in plan.arms
        ],
        "servers": [
            {"name": s.name, "version": s.version, "transport": s.transport, "protocols": list(s.protocols)}
            for s in plan.servers
        ],
        "locked": [
            {"server": s.server, "version": s.version, "revision": s.revision, "tools": len(s.tools)}
            for s in (plan.lock.servers if plan.lock is not None else ())
        ],
        "axes": _axes(plan.cells),
        "seed": plan.suite.seed,
        "judge": plan.suite.judge,
        "selection": {
            "select": list(plan.selection.select),
            "exclude": list(plan.selection.exclude),
            "heldout": plan.selection.heldout,
        },
        "heldout_left_out": plan.counts.heldout_left_out,
        "files": [{"path": entry.path, "sha256": entry.sha256} for entry in plan.files],
        "made_with": _made_with(manifest),
    }


def _made_with(manifest: Manifest | None) -> dict[str, Any]:
    if manifest is None:
        return {}
    return {
        "python": manifest.python,
        "sandbox": manifest.sandbox,
        "packages": dict(sorted(manifest.packages.items())),
        "servers": dict(sorted(manifest.servers.items())),
    }


def _task(task: Task, source_of: SourceOf) -> dict[str, Any]:
    return {
        "name": task.name,
        "title": task.title,
        "prompt": said(task.prompt),
        "tags": list(task.tags),
        "kind": task.kind,
        "split": task.split,
        "purpose": task.purpose,
        "trials": task.trials,
        "servers": list(task.servers),
        "limits": _limits(task.budget),
        "limits_per_turn": _limits(task.budget_per_turn),
        "graders": [grader.common.text for grader in task.graders],
        "at": str(task.at) if task.at is not None else "",
        "text": _block(task.at, source_of),
    }


def said(expression: Expression | None) -> str:
    """A text as the spec has it, its templates not yet filled; empty where it is neither."""
    if isinstance(expression, Literal):
        return str(expression.value)
    return expression.text if isinstance(expression, Template) else ""


def _block(at: Location | None, source_of: SourceOf) -> str:
    source = source_of(at.path) if at is not None else None
    if at is None or source is None or at.end_line > len(source.lines.starts):
        return ""
    return "\n".join(source.line_text(number) for number in range(at.line, at.end_line + 1))


def _limits(budget: Budget) -> dict[str, list[float | str | None]]:
    """Soft and hard by what is limited, where one is set; a text is the axis whose values it takes, cell by cell."""
    found = {each.name: getattr(budget, each.name) for each in fields(budget)}
    pairs = {name: [limit.soft_axis or limit.soft, limit.hard_axis or limit.hard] for name, limit in found.items()}
    return {name: pair for name, pair in pairs.items() if pair != [None, None]}


def _axes(cells: Iterable[Cell]) -> dict[str, list[str]]:
    """The values of each free axis, in order of the cells."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for entry in cell.parameters:
            found.setdefault(entry.key, {})[said(entry.value)] = None
    return {axis: list(values) for axis, values in found.items()}


def _model(model: Model) -> dict[str, Any]:
    price = model.price
    return {
        "name": model.name,
        "driver": model.driver,
        "target": model.target,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "price": [price.input, price.output] if price is not None else None,
    }
