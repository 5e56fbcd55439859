"""Plan: which instances of which harvests a task needs in a cell.

A harvest is read once, except where it depends on the row of a task or on the cell (a free parameter it uses, a
catalogue whose server is an axis): then once for each row and for each variant. All that is inherited by the harvests
that use it. Harvests of scope `trial` are read within each trial and are no nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.names import Uses, uses, with_lets
from mcpeval_dsl.plan.topology import Topology
from mcpeval_dsl.semantics.model import Cell, Environment, Harvest, Task


@dataclass(frozen=True, slots=True)
class Known:
    """A harvest with what it refers to. `owner` is the task it stands in; `reach` all harvests it waits for."""

    harvest: Harvest
    owner: Task | None
    uses: Uses
    lets: tuple[str, ...]
    environment: Environment | None
    waits: tuple[str, ...]
    row: bool
    trial: bool
    names: frozenset[str]
    servers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Place:
    """One instance of a harvest: `cell` stands for all cells of the same variant, None where the cell is no matter."""

    harvest: str
    instance: str | None
    row: int | None
    cell: Cell | None

    @property
    def id(self) -> str:
        row = "" if self.row is None else f"[{self.instance}]"
        return f"harvest:{self.harvest}{row}" + (f"@{self.cell.id}" if self.cell is not None else "")


@dataclass(slots=True)
class Harvests:
    """All harvests of a suite, with their instances on demand. Made after the cycle guard: waits are acyclic."""

    topology: Topology
    known: dict[str, Known] = field(default_factory=dict)
    _variants: dict[tuple[str, str], Cell | None] = field(default_factory=dict)
    _first: dict[tuple[str, str], Cell] = field(default_factory=dict)
    _declared: dict[str, tuple[Harvest, Task | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._declared = declared(self.topology)
        for name in self._declared:
            self._learn(name)

    @staticmethod
    def waits(topology: Topology) -> dict[str, tuple[str, ...]]:
        """What each harvest waits for directly, whether or not there is a cycle."""
        found = declared(topology)
        return {name: _waits(topology, harvest, owner, found) for name, (harvest, owner) in found.items()}

    def of_task(self, task: Task) -> tuple[str, ...]:
        """Ids of the harvests a task needs directly: its own, those it uses and those its environment uses."""
        environment = self.topology.environments.get(task.environment or "")
        found = {*task.uses, *(h.id for h in task.harvests), *of_environment(self.topology, environment)}
        return tuple(sorted(name for name in found if name in self.known))

    def place(self, name: str, instance: str, row: int | None, cell: Cell) -> Place:
        """The instance of harvest `name` that a trial of this instance and cell, or a harvest for it, reads."""
        known = self.known[name]
        stands_for = self._cell(name, cell)
        return Place(name, instance if known.row else None, row if known.row else None, stands_for)

    def read_by_trial(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(harvests that are nodes, harvests read within the trial) among `names`, the latter followed to the former."""
        nodes: set[str] = set()
        inside: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if not self.known[name].trial:
                nodes.add(name)
            elif name not in inside:
                inside.add(name)
                todo.extend(self.known[name].waits)
        return tuple(sorted(nodes)), tuple(sorted(inside))

    def parameters(self, name: str, cell: Cell) -> dict[str, object]:
        """The free axes of the cell that this harvest depends on."""
        return {e.key: e.value for e in cell.parameters if e.key in self.known[name].names}

    def _learn(self, root: str) -> None:
        """Depth first without recursion: chains of harvests may be long."""
        stack = [root]
        while stack:
            name = stack[-1]
            if name in self.known:
                stack.pop()
                continue
            harvest, owner = self._declared[name]
            waits = _waits(self.topology, harvest, owner, self._declared)
            missing = [n for n in waits if n not in self.known]
            if missing:
                stack.extend(missing)
                continue
            self.known[name] = self._known(harvest, owner, waits)
            stack.pop()

    def _known(self, harvest: Harvest, owner: Task | None, waits: tuple[str, ...]) -> Known:
        environment = environment_of(self.topology, harvest, owner)
        found = uses(harvest, environment)
        lets = with_lets(found, self.topology.lets, self.topology.uses_of_lets)
        before = [self.known[n] for n in waits]
        return Known(
            harvest=harvest,
            owner=owner,
            uses=found,
            lets=lets,
            environment=environment,
            waits=waits,
            row=harvest.row or any(k.row for k in before),
            trial=harvest.scope == "trial" or any(k.trial for k in before),
            names=frozenset(found.names).union(*(k.names for k in before)),
            servers=frozenset(found.servers).union(*(k.servers for k in before)),
        )

    def _cell(self, name: str, cell: Cell) -> Cell | None:
        """The first cell in which the harvest means the same as in `cell`; None where every cell does."""
        if (name, cell.id) in self._variants:
            return self._variants[(name, cell.id)]
        known = self.known[name]
        parameters = {e.key: e.value for e in cell.parameters if e.key in known.names}
        moved = sorted(s for s in known.servers if s not in self.topology.servers)
        several = [s for s in moved if len(self.topology.by_catalogue.get(s, ())) > 1]
        result: Cell | None = None
        if parameters or several:
            variant = digest([parameters, [self.topology.resolve(s, cell) for s in several]])
            result = self._first.setdefault((name, variant), cell)
        self._variants[(name, cell.id)] = result
        return result


def declared(topology: Topology) -> dict[str, tuple[Harvest, Task | None]]:
    """Every harvest by id with the task it stands in."""
    found: dict[str, tuple[Harvest, Task | None]] = {h.id: (h, None) for h in topology.suite.harvests}
    for task in topology.suite.tasks:
        found.update({h.id: (h, task) for h in task.harvests})
    return found


def environment_of(topology: Topology, harvest: Harvest, owner: Task | None) -> Environment | None:
    """A harvest reads from the environment it names, else from that of its task."""
    name = harvest.environment or (owner.environment if owner is not None else None)
    return topology.environments.get(name or "")


def of_environment(topology: Topology, environment: Environment | None) -> set[str]:
    """Suite harvests that an environment's steps, variables and needs refer to."""
    if environment is None:
        return set()
    found = uses(environment)
    with_lets(found, topology.lets, topology.uses_of_lets)
    needed = {n.name for n in environment.needs if n.kind == "harvest"}
    return {name for name in found.names | needed if name in topology.harvests}


def _waits(topology: Topology, harvest: Harvest, owner: Task | None, known: Mapping[str, object]) -> tuple[str, ...]:
    through = of_environment(topology, environment_of(topology, harvest, owner))
    # Which row it is read for is decided by what the loop goes over.
    rows = uses(owner.loop.over, owner.loop.where).names if harvest.row and owner is not None and owner.loop else ()
    return tuple(sorted(name for name in {*harvest.depends_on, *through, *rows} if name in known))
