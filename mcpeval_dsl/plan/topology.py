"""Plan, before the nodes: the suite indexed by name, and which servers a task meets in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.plan.model import Lock, LockedServer
from mcpeval_dsl.plan.names import Uses, let_uses
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.model import (
    Catalogue,
    Cell,
    Environment,
    Harvest,
    Host,
    Let,
    Model,
    Server,
    Task,
    TypedSuite,
)


@dataclass(slots=True)
class Topology:
    """Look-ups over one suite; built once, read by keys, harvests and build."""

    suite: TypedSuite
    lock: Lock | None
    digests: Mapping[str, str]
    servers: dict[str, Server] = field(init=False)
    catalogues: dict[str, Catalogue] = field(init=False)
    environments: dict[str, Environment] = field(init=False)
    models: dict[str, Model] = field(init=False)
    hosts: dict[str, Host] = field(init=False)
    arms: dict[str, Arm] = field(init=False)
    lets: dict[str, Let] = field(init=False)
    uses_of_lets: dict[str, Uses] = field(init=False)
    harvests: dict[str, Harvest] = field(init=False)
    locked: dict[str, LockedServer] = field(init=False)
    by_catalogue: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        suite = self.suite
        self.servers = {s.name: s for s in suite.servers}
        self.catalogues = {c.name: c for c in suite.catalogues}
        self.environments = {e.name: e for e in suite.environments}
        self.models = {m.name: m for m in suite.models}
        self.hosts = {h.name: h for h in suite.hosts}
        self.arms = {a.name: a for a in suite.arms}
        self.lets = {let.name: let for let in suite.lets}
        self.uses_of_lets = let_uses(suite.lets)
        self.harvests = {h.id: h for h in suite.harvests}
        self.locked = {s.server: s for s in self.lock.servers} if self.lock is not None else {}
        self.by_catalogue = {}
        for server in suite.servers:
            self.by_catalogue.setdefault(catalogue_of(server), []).append(server.name)

    def resolve(self, name: str, cell: Cell) -> str | None:
        """The server that a server's or catalogue's name stands for in this cell; None where there is none."""
        if name in self.servers:
            return name
        candidates = self.by_catalogue.get(name, [])
        if cell.server in candidates:
            return cell.server
        return candidates[0] if candidates else None

    def visible(self, task: Task, cell: Cell) -> tuple[str, ...]:
        """Servers whose tools the agent sees, in order of the task's list; an arm restricts them."""
        found = [s for s in (self.resolve(name, cell) for name in task.servers) if s is not None]
        arm = self.arms.get(cell.arm) if cell.arm is not None else None
        return tuple(dict.fromkeys(s for s in found if in_arm(self.servers[s], arm)))

    def resolved(self, names: set[str], cell: Cell) -> tuple[str, ...]:
        """The servers that steps and sources call, by name."""
        found = {self.resolve(name, cell) for name in names}
        return tuple(sorted(s for s in found if s is not None))


def catalogue_of(server: Server) -> str:
    return server.catalog or server.name


def in_arm(server: Server, arm: Arm | None) -> bool:
    """Whether the agent has this server in the arm; without arms it has every one."""
    return arm is None or server.name in arm.servers or catalogue_of(server) in arm.servers
