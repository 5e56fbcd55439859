"""The tools that a trial's agent is shown: its servers' own, and what the task puts among them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mcpeval_dsl.execute.blocking import Blocked
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.gateway.distractors import NoSuchTools, among, catalogue_tools, distractors, shipped
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.semantics.disturbances import CatalogueTools
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.regular import regular_text
from mcpeval_dsl.values.text import as_text


def with_distractors(
    context: RunContext, task: Task, shown: tuple[ToolDefinition, ...], scope: Scope
) -> tuple[ToolDefinition, ...]:
    """The tools in the order the agent sees them. Raises Blocked where the distractors cannot be had.

    Drawn by the suite's seed and the task's name: every trial and every cell of a task has the same tools, so that agents
    are compared and not draws.
    """
    if not task.distract:
        return shown
    seed = f"{context.plan.suite.seed}/{task.name}"
    remembered: dict[object, tuple[ToolDefinition, ...]] = context.shared.setdefault("distractors", {})
    key = (task.name, tuple((tool.server, tool.name, tool.sha256) for tool in shown))
    if key not in remembered:

        def load(line: CatalogueTools) -> tuple[ToolDefinition, ...]:
            return _loaded(context, as_text(evaluate(line.path, scope)), line.shipped)

        try:
            added = distractors(task.distract, shown, seed, load, scope)
        except NoSuchTools as problem:
            raise Blocked("setup", ("setup:distract",), str(problem)) from problem
        remembered[key] = among(shown, added, seed)
    return remembered[key]


def _loaded(context: RunContext, path: str, is_shipped: bool) -> tuple[ToolDefinition, ...]:
    remembered: dict[tuple[str, bool], tuple[ToolDefinition, ...]] = context.shared.setdefault("catalogues", {})
    if (path, is_shipped) not in remembered:
        text = shipped(path) if is_shipped else _read(context.spec_folder / path, path)
        remembered[path, is_shipped] = catalogue_tools(text, Path(path).stem, context.servers)
    return remembered[path, is_shipped]


def _read(file: Path, path: str) -> str:
    try:
        return regular_text(file)
    except (OSError, ValueError) as error:
        raise NoSuchTools(f"the catalogue {path} cannot be read: {error}") from error


def decoys_among(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    return tuple(tool for tool in tools if tool.distractor)
