"""A trial whose host is a process outside: its door listens while the host is at work, and everything else is as always.

Set-up, evidence and the agent's calls share the trial's one gateway and its sessions, so no rule, limit or record is any
other than with the host in process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpeval_dsl.execute import folders
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import Stop, ToolDefinition

if TYPE_CHECKING:
    from mcpeval_dsl.gateway.proxy import Proxy


@dataclass(frozen=True, slots=True)
class OpenDoor:
    """`control` is the file that a host's command names."""

    control: Path
    proxy: Proxy

    @property
    def hosts(self) -> Sequence[Mapping[str, Any]]:
        """Who has connected so far, in their own words, with the revision they speak."""
        return self.proxy.hosts

    @property
    def stop(self) -> Stop | None:
        """Why the host is to be ended: a hard budget, a dead server, drift; None as long as there is no reason."""
        return self.proxy.stop

    def words(self, program: str) -> tuple[str, ...]:
        """The command that a host is told to start."""
        return (program, "gateway", "--config", str(self.control))


@asynccontextmanager
async def open_door(world: World, tools: Mapping[str, ToolDefinition], trial: str) -> AsyncIterator[OpenDoor]:
    """`tools` are those that the agent is shown, as it is shown them, by the names that its host uses for them.

    The world is set up and its rules are in force. At the end no host is connected, and every call is on record. Raises OSError.
    """
    from mcpeval_dsl.gateway.outlet import outlet
    from mcpeval_dsl.gateway.proxy import Proxy

    said = [info.instructions for info in world.infos().values() if info.instructions]
    proxy = Proxy(
        world.agent_record,
        tools,
        instructions="\n\n".join(said) or None,
        show_protocol_errors=world.show_protocol_errors,
    )
    # Beside the trial's folder, not in it: a server of the trial may look around there. A killed run leaves it to the next.
    place = world.folder.root.with_name(f"{world.folder.root.name}.door")
    folders.remove(place)
    place.mkdir(mode=0o700)
    guard = world.gateway.guard
    guard.person = proxy.calls.ask
    try:
        async with outlet(proxy, place, trial) as control:
            yield OpenDoor(control, proxy)
    finally:
        guard.person = None
        folders.remove(place)
