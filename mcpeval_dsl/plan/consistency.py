"""Plan, after reading: does a plan that another program wrote hold together? Every name it uses must be in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcpeval_dsl.plan.model import CheckNode, ConnectNode, HarvestNode, Plan, TrialGroup

MOST_TRIALS = 10_000_000  # of a plan: each trial becomes a row of the ledger before the first one starts
_NAME = re.compile(r"[^\W\d][\w-]*")


def problems(plan: Plan) -> Iterator[str]:
    """What is wrong, in words, with the place in the plan; nothing where the plan can be run."""
    if not _NAME.fullmatch(plan.suite.name):
        yield "suite.name: this is no name of a suite"  # it begins the name of the run's folder
    if "\0" in plan.suite.spec:
        yield "suite.spec: this is no path"
    for index, server in enumerate(plan.servers):
        if server.timeout < 0:
            yield f"servers[{index}].timeout: it is below 0"
    servers, cells = {s.name for s in plan.servers}, {c.id for c in plan.cells}
    tasks = {t.name: t for t in plan.tasks}
    harvests = {h.id for h in (*plan.harvests, *(h for t in plan.tasks for h in t.harvests))}
    seen: set[str] = set()
    total = 0
    for index, node in enumerate(plan.nodes):
        here = f"nodes[{index}] (`{node.id}`)"
        if node.id in seen:
            yield f"{here}: the id is there twice"
        for need in node.needs:
            if need not in seen:
                yield f"{here}: it needs `{need}`, which does not stand before it"
        seen.add(node.id)
        if isinstance(node, ConnectNode | CheckNode):
            yield from _unknown(here, "server", node.server, servers)
        elif isinstance(node, HarvestNode):
            yield from _unknown(here, "harvest", node.harvest, harvests)
            yield from _unknown(here, "task", node.task, tasks)
            yield from _unknown(here, "cell", node.cell, cells)
        elif isinstance(node, TrialGroup):
            yield from _unknown(here, "task", node.task, tasks)
            yield from _unknown(here, "cell", node.cell, cells)
            total += node.trials
            if node.trials < 1:
                yield f"{here}: it has {node.trials} trials"
            if (node.row is not None) != (node.task in tasks and tasks[node.task].loop is not None):
                yield f"{here}: only a task with a loop has rows, and each of its groups has one"
    if total > MOST_TRIALS:
        yield f"it has {total:,} trials, and a plan has at most {MOST_TRIALS:,}"
    yield from _cells(plan)


def _cells(plan: Plan) -> Iterator[str]:
    models, hosts = {m.name for m in plan.models}, {h.name for h in plan.hosts}
    arms, servers = {a.name for a in plan.arms}, {s.name for s in plan.servers}
    for index, cell in enumerate(plan.cells):
        here = f"cells[{index}] (`{cell.id}`)"
        yield from _unknown(here, "model", cell.model, models)
        yield from _unknown(here, "host", cell.host, hosts)
        yield from _unknown(here, "arm", cell.arm, arms)
        yield from _unknown(here, "server", cell.server, servers)


def _unknown(here: str, noun: str, name: str | None, known: Iterable[str]) -> Iterator[str]:
    if name is not None and name not in known:
        yield f"{here}: there is no {noun} `{name}` in the plan"
