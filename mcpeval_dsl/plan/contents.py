"""Plan: what each node's content key covers (architecture.md, "Content keys"), one function for each kind of node.

Digests of a task's, a cell's, an environment's and a server's own part are made once and put together per group.
Tags, clusters, splits, numbers of trials and expected failures change no trial and are in no key.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mcpeval_dsl import __version__
from mcpeval_dsl.plan.ceilings import judge_models
from mcpeval_dsl.plan.evidence import evidence
from mcpeval_dsl.plan.fixtures import Fixtures
from mcpeval_dsl.plan.harvests import Harvests, Known
from mcpeval_dsl.plan.instances import Instance
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.names import Uses, uses, with_lets
from mcpeval_dsl.plan.topology import Topology, catalogue_of
from mcpeval_dsl.semantics.expressions import CallPattern
from mcpeval_dsl.semantics.model import Cell, Model, Task

_TRIAL_FIELDS = (
    *("name", "prompt", "system", "answer", "host_tools", "tools", "hide", "budget", "needs", "policy"),
    *("may", "never", "setup", "teardown", "undo", "simulate", "canaries", "elicit", "elicit_content"),
    *("faults", "distract", "injections", "budget_per_turn", "answers_for_user"),
)
_PINNED = ("transport", "era", "revision", "version", "catalogue_sha256")


@dataclass(slots=True)
class Contents:
    """Content keys over one suite; parts are remembered, since groups share them."""

    topology: Topology
    harvests: Harvests
    fixtures: Fixtures
    _tasks: dict[str, tuple[str, Uses]] = field(default_factory=dict)
    _grades: dict[str, str] = field(default_factory=dict)
    _cells: dict[str, str] = field(default_factory=dict)
    _servers: dict[str, str] = field(default_factory=dict)

    def connect(self, server: str) -> str:
        """The server's settings, its fixtures and what the lock pins of it."""
        if server not in self._servers:
            declared = self.topology.servers[server]
            found, lets = self._follow(uses(declared))
            self._servers[server] = digest(
                {
                    "kind": "connect",
                    "harness": __version__,
                    "seed": self.topology.suite.seed,
                    "server": declared,
                    "lets": lets,
                    "fixtures": self.fixtures.of_texts(found.texts),
                    "locked": self._pinned(server),
                }
            )
        return self._servers[server]

    def _pinned(self, server: str) -> object:
        """What the lock holds of a server, apart from findings, which may differ from contact to contact."""
        locked = self.topology.locked.get(server)
        return locked and [getattr(locked, name) for name in _PINNED]

    def harvest(self, name: str, instance: Instance | None, cell: Cell, needs: list[str]) -> str:
        """The source with all it refers to. `needs` are the keys of the nodes it waits for."""
        known = self.harvests.known[name]
        texts = set(known.uses.texts)
        return digest(
            {
                "kind": "harvest",
                "harness": __version__,
                "seed": self.topology.suite.seed,
                "harvest": replace(known.harvest, depends_on=(), scope="run"),
                "environment": known.environment,
                "lets": {let: self.topology.lets[let].value for let in known.lets},
                "parameters": self.harvests.parameters(name, cell),
                "row": _row(instance) if known.row and instance is not None else None,
                "fixtures": self.fixtures.of_texts(texts),
                "needs": needs,
            }
        )

    def trial(self, instance: Instance, cell: Cell, servers: tuple[str, ...], needs: list[str]) -> str:
        """Everything that can change a trial, grader settings apart. `servers` are those the agent sees."""
        task, _ = self._task(instance.task)
        return digest(
            {
                "kind": "trial",
                "harness": __version__,
                "seed": self.topology.suite.seed,
                "task": task,
                "row": _row(instance),
                "cell": self._cell(cell),
                "servers": servers,
                "catalogues": [self._catalogue(server) for server in servers],
                "needs": needs,
            }
        )

    def servers_called(self, task: Task) -> set[str]:
        """Servers that set-up, sources and references of a task call, by the names the spec uses."""
        user = task.dialogue.user if task.dialogue is not None else None
        private = {p.server for p in user.tools if isinstance(p, CallPattern)} if user is not None else set()
        return self._task(task)[1].servers | {server for server in private if server is not None}

    def grade(self, task: Task) -> str:
        """Everything that only grading reads; the judge's model is part of it."""
        if task.name not in self._grades:
            parts = {
                "graders": task.graders,
                "truths": task.truths,
                "conditionals": [(c.condition, c.graders, c.expect) for c in task.conditionals],
                "expect": task.expect,
                "reference": task.reference,
                "dialogue": _graded(task),
            }
            _, lets = self._follow(uses(*parts.values()))
            judges = [name for name in judge_models(task) if name in self.topology.models]
            self._grades[task.name] = digest(
                {
                    **parts,
                    "kind": "grade",
                    "harness": __version__,
                    "lets": lets,
                    "judges": [self.topology.models[name] for name in judges],
                    "calibrations": [c for c in self.topology.suite.calibrations if c.judge in judges],
                }
            )
        return self._grades[task.name]

    def check(self, server: str, needs: list[str]) -> str:
        """All checks of one server, each with its environment and what they refer to."""
        declared = [c for c in self.topology.suite.checks if c.server == server]
        environments = [self.topology.environments.get(c.environment or "") for c in declared]
        found, lets = self._follow(uses(declared, environments))
        return digest(
            {
                "kind": "check",
                "harness": __version__,
                "seed": self.topology.suite.seed,
                "check": declared,
                "environments": environments,
                "catalogues": self.topology.suite.catalogues,
                "lets": lets,
                "fixtures": self.fixtures.of_texts(found.texts),
                "needs": needs,
            }
        )

    def _task(self, task: Task) -> tuple[str, Uses]:
        if task.name not in self._tasks:
            environment = self.topology.environments.get(task.environment or "")
            inside = self.harvests.read_by_trial(self.harvests.of_task(task))[1]
            parts: dict[str, Any] = {name: getattr(task, name) for name in _TRIAL_FIELDS}
            parts["evidence"] = evidence(task)
            parts["conditionals"] = [(c.condition, c.may, c.never, c.needs) for c in task.conditionals]
            parts["loop"] = _loop(task)
            parts["dialogue"] = _spoken(task)
            parts["user"] = self._user(task)
            found, lets = self._follow(uses(*parts.values(), environment))
            for name in inside:
                found.merge(self.harvests.known[name].uses)
            whole = {
                **parts,
                "environment": environment,
                "inside": [self._inside(self.harvests.known[name]) for name in inside],
                "lets": lets,
                "fixtures": self.fixtures.of_texts(found.texts),
            }
            self._tasks[task.name] = digest(whole), found
        return self._tasks[task.name]

    def _user(self, task: Task) -> object:
        """The model behind a simulated user, with what it reads."""
        user = task.dialogue.user if task.dialogue is not None else None
        if user is None:
            return None
        model = self.topology.models.get(user.model)
        return [model if model is not None else user.model, self.fixtures.of_texts(_target(model))]

    def _inside(self, known: Known) -> dict[str, object]:
        """A harvest read within the trial is a part of the trial."""
        return {
            "harvest": replace(known.harvest, depends_on=()),
            "environment": known.environment,
            "lets": {let: self.topology.lets[let].value for let in known.lets},
        }

    def _cell(self, cell: Cell) -> str:
        """The settings behind a cell's names; not its id, which grows when another axis is declared."""
        if cell.id not in self._cells:
            model = self.topology.models.get(cell.model)
            host = self.topology.hosts.get(cell.host)
            arm = self.topology.arms.get(cell.arm or "")
            found, lets = self._follow(uses(host, arm, cell.parameters))
            self._cells[cell.id] = digest(
                {
                    "model": model if model is not None else cell.model,
                    "host": host if host is not None else cell.host,
                    "arm": arm,
                    "server": cell.server,
                    "parameters": {e.key: e.value for e in cell.parameters},
                    "lets": lets,
                    "fixtures": self.fixtures.of_texts(found.texts | _target(model)),
                }
            )
        return self._cells[cell.id]

    def _catalogue(self, server: str) -> object:
        name = catalogue_of(self.topology.servers[server])
        return [self.topology.catalogues.get(n) for n in dict.fromkeys((name, server))]

    def _follow(self, found: Uses) -> tuple[Uses, dict[str, object]]:
        names = with_lets(found, self.topology.lets, self.topology.uses_of_lets)
        return found, {name: self.topology.lets[name].value for name in names}


def _spoken(task: Task) -> object:
    """What is said in a dialogue, without what it is judged by."""
    dialogue = task.dialogue
    if dialogue is None:
        return None
    return replace(
        dialogue, turns=tuple(replace(t, expect=(), graders=(), reference=()) for t in dialogue.turns), every=()
    )


def _graded(task: Task) -> object:
    dialogue = task.dialogue
    if dialogue is None:
        return None
    return [dialogue.every, [(turn.expect, turn.graders, turn.reference) for turn in dialogue.turns]]


def _row(instance: Instance) -> object:
    if instance.row is None:
        return None
    return [instance.row_value, instance.twin] if instance.row_value is not None else instance.row


def _loop(task: Task) -> object:
    loop = task.loop
    if loop is None:
        return None
    dynamic = None if loop.rows is not None else (loop.over, loop.key)
    return [loop.variable, loop.where, dynamic]


def _target(model: Model | None) -> set[str]:
    return {model.target} if model is not None else set()
