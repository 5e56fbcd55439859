"""A foreign host for the tests: the SDK's own client, which starts `mcpe gateway` as its server."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpeval_dsl.gateway.control import Control, write_control
from mcpeval_dsl.gateway.model import Launch
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from tests.gateway.starting import ENVIRONMENT, tiny

T = TypeVar("T")
FREE = Rules(policy="execute")
ERAS: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")


def control(folder: Path, mode: str = "good", **more: Any) -> Control:
    """A trial with the tiny server in one of its modes; processes of it carry `folder`/tmp in their variables."""
    (folder / "tmp").mkdir(exist_ok=True)
    launch: Launch = tiny(mode, env={**ENVIRONMENT, "TMPDIR": str(folder / "tmp")})
    pin = asyncio.run(probe(launch))
    settings: dict[str, Any] = {"rules": FREE, "trial": "task@cell#1", "folder": str(folder)} | more
    return Control(str(folder / "spool.jsonl"), (launch,), {"tiny": pin}, **settings)


def written(folder: Path, given: Control) -> list[str]:
    """The command that a host is told to start, after the control file was written."""
    path = folder / "control.json"
    path.unlink(missing_ok=True)
    write_control(path, given)
    return [sys.executable, "-W", "error", "-m", "mcpeval_dsl.cli.main", "gateway", "--config", str(path)]


def as_host(words: list[str], use: Callable[[Client], Awaitable[T]], mode: Literal["auto", "legacy"] = "auto") -> T:
    """Connect as a host does, use the server, disconnect."""

    async def run() -> T:
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        with Path(os.devnull).open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors), mode=mode, cache=None) as client:
                return await use(client)

    return asyncio.run(run())


def living(folder: Path) -> list[str]:
    """Command lines of processes that belong to the trial in `folder`, or name its control file."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            inside = f"TMPDIR={folder}/tmp".encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words and (inside or str(folder / "control.json") in words):
            found.append(words)
    return found


def gone(folder: Path, seconds: float = 8.0) -> bool:
    """Whether all of them end within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not living(folder):
            return True
        time.sleep(0.05)
    return False
