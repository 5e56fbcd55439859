"""Plan, for `mcpe selftest`: from a plan to one that tries its tasks and graders with agents that are no models.

Each task instance has two trials for each version of its servers: one by an agent that plays the task's `reference`, if it
has one, and one by an agent that does nothing. Faults, distractors and planted instructions are about agents, so they are
left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mcpeval_dsl.plan.model import CheckNode, Node, Plan, TrialGroup
from mcpeval_dsl.semantics.graders import AnyOf, Grader, Judge
from mcpeval_dsl.semantics.model import Cell, Conditional, Host, Model, Task

REFERENCE, NULL = "reference", "null"
AGENTS = (REFERENCE, NULL)
MOST_TURNS = 500


def selftest_plan(plan: Plan) -> Plan:
    """Nothing of it asks a model: judges are taken out, and so are the trials of dialogues."""
    cells: dict[str, Cell] = {}
    nodes: list[Node] = [node for node in plan.nodes if not isinstance(node, TrialGroup | CheckNode)]
    chosen = list(_chosen(plan))
    several = len({variant for _, variant in chosen}) > 1
    by_server = len({parameters for _, (_, parameters) in chosen}) == 1
    known = {cell.id: cell for cell in plan.cells}
    played = {task.name for task in plan.tasks if task.reference}
    for group, _ in chosen:
        for agent in AGENTS if group.task in played else (NULL,):
            version = known[group.cell].server if by_server else None
            name = f"{agent}/{version or group.cell}" if several else agent
            cells[name] = replace(known[group.cell], id=name, model=agent)
            nodes.append(_group(group, name, agent))
    return plan.model_copy(
        update={
            "suite": plan.suite.model_copy(update={"judge": None, "comparisons": ()}),
            "models": tuple(Model(name=agent, driver="script", target="") for agent in AGENTS),
            "hosts": tuple(_plain(host) for host in plan.hosts),
            "tasks": tuple(_without_models(task) for task in plan.tasks),
            "cells": tuple(cells.values()),
            "checks": (),
            "nodes": tuple(nodes),
            "key": _digest(f"selftest\0{plan.key}"),
        }
    )


def _chosen(plan: Plan) -> Iterator[tuple[TrialGroup, tuple[object, ...]]]:
    """One group for each task instance and version of the servers, among those whose agents have servers."""
    cells = {cell.id: cell for cell in plan.cells}
    without = {arm.name for arm in plan.arms if not arm.servers}
    spoken = {task.name for task in plan.tasks if task.dialogue is not None}
    seen: set[tuple[object, ...]] = set()
    for group in plan.nodes:
        if not isinstance(group, TrialGroup) or group.task in spoken or cells[group.cell].arm in without:
            continue
        cell = cells[group.cell]
        variant: tuple[object, ...] = (cell.server, cell.parameters)
        key = (group.task, group.row, *variant)
        if key not in seen:
            seen.add(key)
            yield group, variant


def _group(group: TrialGroup, cell: str, agent: str) -> TrialGroup:
    name = f"{group.id.removesuffix(f'@{group.cell}')}@{cell}"
    return group.model_copy(update={"id": name, "cell": cell, "trials": 1, "key": _digest(f"{agent}\0{group.key}")})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(host: Host) -> Host:
    """Every tool in view, every result whole."""
    return replace(host, agent="loop", command=(), tool_search=False, tool_result_limit=None, max_turns=MOST_TURNS)


def _without_models(task: Task) -> Task:
    return replace(
        task,
        graders=without_judges(task.graders),
        conditionals=tuple(_conditional(each) for each in task.conditionals),
        faults=(),
        distract=(),
        injections=(),
        dialogue=None,
    )


def _conditional(each: Conditional) -> Conditional:
    return replace(each, graders=without_judges(each.graders))


def without_judges(graders: Iterable[Grader]) -> tuple[Grader, ...]:
    """An `any` that a judge is part of is left without it, and goes with its last part."""
    found: list[Grader] = []
    for grader in graders:
        if isinstance(grader, AnyOf):
            inside = without_judges(grader.graders)
            found += [replace(grader, graders=inside)] if inside else []
        elif not isinstance(grader, Judge):
            found.append(grader)
    return tuple(found)
