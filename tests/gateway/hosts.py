"""A foreign host for the tests, the SDK's own client, which starts `mcpe gateway`; and the door of a trial that it comes to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import CallRecord, Launch
from mcpeval_dsl.gateway.outlet import outlet
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.proxy import Proxy
from tests.gateway.starting import ENVIRONMENT, tiny

T = TypeVar("T")
FREE = Rules(policy="execute")
ERAS: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")
COMMAND = [sys.executable, "-W", "error", "-m", "mcpeval_dsl.cli.main", "gateway", "--config"]


@dataclass(slots=True)
class Door:
    """The trial's side: what a host is told to start, and what was recorded."""

    folder: Path
    words: list[str] = field(default_factory=list)
    gateway: Gateway = field(init=False)
    proxy: Proxy = field(init=False)

    @property
    def control(self) -> Path:
        return Path(self.words[-1])

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        return self.gateway.calls

    def living(self) -> list[str]:
        """Command lines of processes that belong to the trial, or were told its control file."""
        return [words for pid, words in self.processes() if pid != os.getpid()]

    def processes(self) -> Iterator[tuple[int, str]]:
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                inside = f"TMPDIR={self.folder}".encode() in (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if words and (inside or str(self.control) in words):
                yield int(entry.name), words

    def relays(self) -> list[int]:
        """Process numbers of what was told the control file."""
        return [pid for pid, words in self.processes() if str(self.control) in words]

    def gone(self, seconds: float = 8.0) -> bool:
        return wait_for(lambda: not self.living(), seconds)


@contextlib.contextmanager
def door(
    folder: Path,
    mode: str = "good",
    *,
    launch: Launch | None = None,
    names: Mapping[str, str] | None = None,
    rules: Rules = FREE,
    instructions: str | None = None,
    show_protocol_errors: bool = False,
    ready: Callable[[Gateway], None] = lambda gateway: None,
    **more: Any,
) -> Iterator[Door]:
    """The door of a trial with the tiny server, open in a thread of its own. `names`: tool to the name that hosts see."""
    found = Door(folder)
    opened, leaving = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    problems: list[BaseException] = []

    async def trial(place: Path) -> None:
        own = launch or tiny(mode, env={**ENVIRONMENT, "TMPDIR": str(folder)})
        pin = await probe(own)
        gateway = Gateway([own], {own.server: pin}, rules, show_protocol_errors=show_protocol_errors, **more)
        ready(gateway)
        await gateway.open()

        async def carry(server: str, tool: str, arguments: Mapping[str, Any], turn: int, name: str) -> CallRecord:
            return await gateway.call("agent", server, tool, arguments, turn=turn, wire_name=name)

        tools = [*gateway.tools(), *gateway.decoys.tools]
        known = names or {tool.name: tool.name for tool in tools}
        shown = {known[tool.name]: tool for tool in tools if tool.name in known}
        proxy = Proxy(carry, shown, instructions=instructions, show_protocol_errors=show_protocol_errors)
        gateway.guard.person = proxy.calls.ask
        found.gateway, found.proxy = gateway, proxy
        try:
            async with outlet(proxy, place, "task@cell#1") as control:
                found.words += [*COMMAND, str(control)]
                opened.set()
                await leaving.wait()
        finally:
            await gateway.close()

    def run(place: Path) -> None:
        try:
            loop.run_until_complete(trial(place))
        except BaseException as problem:
            problems.append(problem)
        finally:
            opened.set()
            loop.close()

    with tempfile.TemporaryDirectory(prefix="door-", dir="/tmp") as place:
        thread = threading.Thread(target=run, args=(Path(place),))
        thread.start()
        opened.wait(30)
        try:
            if problems:
                raise problems[0]
            yield found
        finally:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(leaving.set)
            thread.join(20)
        if problems:
            raise problems[0]


def as_host(
    words: list[str],
    use: Callable[[Client], Awaitable[T]],
    mode: Literal["auto", "legacy"] = "auto",
    **more: Any,
) -> T:
    """Connect as a host does, use the server, disconnect. `more` is what the host can do besides."""

    async def run() -> T:
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        with Path(os.devnull).open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors), mode=mode, cache=None, **more) as client:
                return await use(client)

    return asyncio.run(run())


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.03)
    return False
