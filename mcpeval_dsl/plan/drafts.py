"""Plan: the whole graph in outline (ids and edges, no keys), from which a selection is made.

A trial group stands for all its trials, so a million trials are a few thousand drafts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.plan.contents import Contents
from mcpeval_dsl.plan.harvests import Harvests, Place, of_environment
from mcpeval_dsl.plan.instances import Instance, instances
from mcpeval_dsl.plan.names import uses
from mcpeval_dsl.plan.topology import Topology, catalogue_of
from mcpeval_dsl.semantics.model import Cell, Check, Task


@dataclass(frozen=True, slots=True)
class Draft:
    """One node to be. `name` is the server, harvest or task it stands for; `cell` is set for harvests and trials."""

    kind: Literal["connect", "harvest", "trial", "check"]
    id: str
    name: str
    needs: tuple[str, ...] = ()
    instance: Instance | None = None
    cell: Cell | None = None
    servers: tuple[str, ...] = ()
    place: Place | None = None


@dataclass(slots=True)
class Outline:
    """Drafts by id in the order of the plan: connects, harvests after what they wait for, trials, checks."""

    connects: dict[str, Draft] = field(default_factory=dict)
    harvests: dict[str, Draft] = field(default_factory=dict)
    trials: dict[str, Draft] = field(default_factory=dict)
    checks: dict[str, Draft] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __iter__(self) -> Iterator[Draft]:
        for part in (self.connects, self.harvests, self.trials, self.checks):
            yield from part.values()

    def get(self, name: str) -> Draft:
        for part in (self.trials, self.harvests, self.connects, self.checks):
            if name in part:
                return part[name]
        raise KeyError(name)

    def closure(self, chosen: Iterable[str]) -> set[str]:
        """The ids and everything they need, directly or not."""
        found: set[str] = set()
        todo = list(chosen)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(self.get(name).needs)
        return found


@dataclass(slots=True)
class Drafting:
    """Makes an outline: one walk over tasks, cells and rows; harvest instances are made where a trial needs them."""

    topology: Topology
    harvests: Harvests
    contents: Contents
    outline: Outline = field(default_factory=Outline)
    _done: set[str] = field(default_factory=set)

    def draft(self, tasks: tuple[Task, ...]) -> Outline:
        for server in self.topology.servers:
            self.outline.connects[connect_id(server)] = Draft("connect", connect_id(server), server)
        for task in tasks:
            rows, found = instances(task)
            self.outline.diagnostics.extend(found)
            if rows:
                self._trials(task, rows)
        for check in self.topology.suite.checks:
            name = f"check:{check.server}"
            earlier = self.outline.checks[name].needs if name in self.outline.checks else ()
            called = {check.server, *uses(check.lines).servers}
            needs = [connect_id(s) for s, server in self.topology.servers.items() if called & {s, catalogue_of(server)}]
            needs += self._harvests_of(check)
            self.outline.checks[name] = Draft("check", name, check.server, tuple(dict.fromkeys((*earlier, *needs))))
        return self.outline

    def _harvests_of(self, check: Check) -> list[str]:
        """Ids of the harvests that a check and its environment need."""
        environment = self.topology.environments.get(check.environment or "")
        wanted = {*check.uses, *of_environment(self.topology, environment)}
        nodes, _ = self.harvests.read_by_trial(tuple(name for name in sorted(wanted) if name in self.harvests.known))
        cell = self.topology.suite.cells[0] if self.topology.suite.cells else Cell("", "", "")
        return [self._harvest(name, None, cell) for name in nodes]

    def _trials(self, task: Task, rows: tuple[Instance, ...]) -> None:
        nodes, inside = self.harvests.read_by_trial(self.harvests.of_task(task))
        called = set(self.contents.servers_called(task))
        for name in inside:
            called |= self.harvests.known[name].servers
        for cell in self.topology.suite.cells:
            visible = self.topology.visible(task, cell)
            servers = dict.fromkeys((*visible, *self.topology.resolved(called, cell)))
            connects = tuple(connect_id(s) for s in servers)
            for instance in rows:
                reads = tuple(self._harvest(name, instance, cell) for name in nodes)
                name = f"{instance.name}@{cell.id}"
                self.outline.trials[name] = Draft(
                    "trial", name, task.name, (*connects, *reads), instance, cell, visible
                )

    def _harvest(self, name: str, instance: Instance | None, cell: Cell) -> str:
        """Id of the harvest's instance; drafts it and what it waits for, without recursion. A check has no instance."""
        label, row = (instance.label, instance.row) if instance is not None else ("", None)
        root = self.harvests.place(name, label, row, cell)
        stack = [root]
        while stack:
            place = stack[-1]
            if place.id in self.outline.harvests:
                stack.pop()
                continue
            known = self.harvests.known[place.harvest]
            waits = [self.harvests.place(n, label, row, cell) for n in known.waits]
            missing = [p for p in waits if p.id not in self.outline.harvests]
            if missing:
                stack.extend(missing)
                continue
            servers = self.topology.resolved(known.uses.servers, cell)
            needs = (*(connect_id(s) for s in servers), *(p.id for p in waits))
            self.outline.harvests[place.id] = Draft(
                "harvest", place.id, place.harvest, needs, instance, cell, servers, place
            )
            stack.pop()
        return root.id


def connect_id(server: str) -> str:
    return f"connect:{server}"
