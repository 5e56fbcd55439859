"""A trial whose agent lives in another process: the control file for its proxy, and what comes back in the spool.

Between set-up and evidence the trial's own gateway is idle: the proxy is the door then, with the same rules, pins and
limits. Calls of set-up and graders stay in this process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcpeval_dsl.execute.recording import plain
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.control import Control, write_control
from mcpeval_dsl.gateway.spool import Spooled, read_spool
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope

ToolName = tuple[str, str, str]
"""Server, tool, and the name that the host shows."""


@dataclass(frozen=True, slots=True)
class Handed:
    """Where the two files are. The control file holds secrets: `take_back` deletes it."""

    control: Path
    spool: Path

    def words(self, program: str) -> tuple[str, ...]:
        """The command that a host is told to start."""
        return (program, "gateway", "--config", str(self.control))


def hand_over(world: World, task: Task, tools: Iterable[ToolName], place: Path, *, trial: str, seed: int = 0) -> Handed:
    """Write the control file into `place`, a folder that nothing of the trial can read. Raises OSError."""
    handed = Handed(place / "control.json", place / "spool.jsonl")
    write_control(handed.control, control_of(world, task, tools, handed.spool, trial=trial, seed=seed))
    return handed


def control_of(
    world: World, task: Task, tools: Iterable[ToolName], spool: Path, *, trial: str, seed: int = 0
) -> Control:
    """What the trial's gateway is made of, as data. The world is set up and its rules are in force."""
    gateway, context = world.gateway, world.context
    shown = tuple(tools)
    pins = {name: pin for name in gateway.launches if (pin := context.pin(name)) is not None}
    names: dict[str, Any] = plain(gateway.rules.scope.names)
    withheld = tuple(name for name in gateway.launches if world.withholds(context.servers[name]))
    instructions = [
        pin.info.instructions for name, pin in pins.items() if pin.info.instructions and name not in withheld
    ]
    servers = {name: context.servers[name] for name in gateway.launches}
    return Control(
        spool=str(spool),
        launches=tuple(gateway.launches.values()),
        pins=pins,
        rules=replace(gateway.rules, scope=Scope(names)),
        tools=shown,
        trial=trial,
        folder=str(world.folder.root),
        instructions="\n\n".join(instructions) or None,
        hard_calls=gateway.hard_calls,
        private=withheld,
        allow_drift={name: tuple(server.allow_drift) for name, server in servers.items() if server.allow_drift},
        show_protocol_errors=world.show_protocol_errors,
        elicit=_person(world, task),
        secrets=dict(context.secrets),
        canaries={name: text for name, _ in task.canaries if isinstance(text := names.get(name), str)},
        faults=task.faults,
        distractors=tuple(world.gateway.decoys.tools),
        bounds=gateway.guard.bounds,
        seed=seed,
    )


def _person(world: World, task: Task) -> dict[str, Any]:
    """What a person would answer to a server's question, as the task says."""
    if task.elicit != "accept" or task.elicit_content is None:
        return {"action": task.elicit}
    return {"action": "accept", "content": plain(evaluate(task.elicit_content, world.names.scope()))}


def take_back(world: World, handed: Handed) -> Spooled:
    """What happened out there, whatever became of the host, is the trial's own from now on; the control file is gone."""
    back = read_spool(handed.spool)
    world.gateway.adopt(back.calls, back.violations)
    world.faults.count(back.calls, world.gateway.launches)
    handed.control.unlink(missing_ok=True)
    return back
