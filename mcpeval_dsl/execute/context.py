"""What all trials of one run share: the plan by name, pins, harvested values, drivers, limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mcpeval_dsl.agents.model import Driver
from mcpeval_dsl.execute.confinement import sandbox_of
from mcpeval_dsl.execute.settings import RunSettings
from mcpeval_dsl.gateway.model import CallRecord, Pin
from mcpeval_dsl.gateway.pins import pin_from_json
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.gateway.sandbox import Sandbox
from mcpeval_dsl.gateway.schemas import Validators
from mcpeval_dsl.plan.model import ConnectNode, HarvestNode, Plan
from mcpeval_dsl.records.model import ConnectRecord, Ended, HarvestRecord
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.model import Catalogue, Cell, Environment, Harvest, Host, Model, Server, Task


@dataclass(frozen=True, slots=True)
class Stored:
    """What a simulated user said and called in an earlier trial, to be said and called again; `closing` came last of all."""

    messages: tuple[str, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    ended: Ended = ""
    closing: str = ""


@dataclass(slots=False)
class RunContext:
    """Mutable only in what a run learns: `connects`, `harvests`, `problems` by node id or model name.

    `stored` are dialogues by trial that are replayed.
    """

    plan: Plan
    run_folder: Path
    spec_folder: Path
    settings: RunSettings
    redactor: Redactor
    drivers: Mapping[str, Driver]
    secrets: Mapping[str, str] = field(default_factory=dict)
    repository_commit: str | None = None
    server_commits: Mapping[str, str] = field(default_factory=dict)
    connects: dict[str, ConnectRecord] = field(default_factory=dict)
    harvests: dict[str, HarvestRecord] = field(default_factory=dict)
    preflights: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    http_hosts: frozenset[str] = frozenset()
    validators: Validators = field(default_factory=Validators)
    starts: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    shared: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def sandbox(self) -> Sandbox:
        return sandbox_of(self.settings)

    @cached_property
    def servers(self) -> Mapping[str, Server]:
        return {server.name: server for server in self.plan.servers}

    @cached_property
    def environments(self) -> Mapping[str, Environment]:
        return {environment.name: environment for environment in self.plan.environments}

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        return {task.name: task for task in self.plan.tasks}

    @cached_property
    def cells(self) -> Mapping[str, Cell]:
        return {cell.id: cell for cell in self.plan.cells}

    @cached_property
    def models(self) -> Mapping[str, Model]:
        return {model.name: model for model in self.plan.models}

    @cached_property
    def hosts(self) -> Mapping[str, Host]:
        return {host.name: host for host in self.plan.hosts}

    @cached_property
    def arms(self) -> Mapping[str, Arm]:
        return {arm.name: arm for arm in self.plan.arms}

    @cached_property
    def catalogues(self) -> Mapping[str, Catalogue]:
        return {catalogue.name: catalogue for catalogue in self.plan.catalogues}

    @cached_property
    def harvest_nodes(self) -> Mapping[str, HarvestNode]:
        return {node.id: node for node in self.plan.nodes if isinstance(node, HarvestNode)}

    @cached_property
    def connect_nodes(self) -> Mapping[str, ConnectNode]:
        return {node.server: node for node in self.plan.nodes if isinstance(node, ConnectNode)}

    def harvest(self, node: HarvestNode) -> Harvest:
        """The harvest a node stands for: the suite's, or the task's own."""
        own = self.tasks[node.task].harvests if node.task is not None else ()
        return next(harvest for harvest in (*own, *self.plan.harvests) if harvest.id == node.harvest)

    def pin(self, server: str) -> Pin | None:
        """What the probe learnt about a server, if it was reached."""
        node = self.connect_nodes.get(server)
        record = None if node is None else self.connects.get(node.id)
        return pin_from_json(dict(record.pin)) if record is not None and record.pin else None

    def server_of(self, name: str, cell: Cell | None) -> Server | None:
        """A server by its own name, or by its catalogue's: then the cell's version of it, or the only one."""
        if name in self.servers:
            return self.servers[name]
        versions = [server for server in self.plan.servers if server.catalog == name]
        if cell is not None and cell.server is not None:
            versions = [server for server in versions if server.name == cell.server] or versions
        return versions[0] if versions else None
