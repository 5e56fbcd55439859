"""How the tests start the servers beside them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.session import Session, open_session
from mcpeval_dsl.gateway.wire import WireResult

SERVERS = Path(__file__).parent / "servers"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
T = TypeVar("T")


def tiny(mode: str = "good", **more: Any) -> Launch:
    """A launch of the tiny server in one of its modes."""
    settings: dict[str, Any] = {"env": ENVIRONMENT, "call_timeout": 60.0, "start_timeout": 60.0} | more
    return Launch("tiny", (sys.executable, "-S", str(SERVERS / "tiny.py"), mode), **settings)


def with_session(launch: Launch, use: Callable[[Session], Awaitable[T]], pin: Pin | None = None) -> T:
    """Open a session, use it, close it."""

    async def run() -> T:
        session = await open_session(launch, pin or await probe(launch))
        try:
            return await use(session)
        finally:
            await session.close()

    return asyncio.run(run())


def one_call(mode: str, **more: Any) -> WireResult:
    """What one call of `echo` ends with."""
    return with_session(tiny(mode, **more), lambda session: session.call("echo", {"text": "hi"}))


@contextmanager
def http_server(*words: str, after: tuple[str, ...] = ()) -> Iterator[str]:
    """A server script on a free loopback port (`after` are words behind the port), as its URL; ended afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script, *arguments = words
    argv = [sys.executable, str(SERVERS / script), *arguments, str(port), *after]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()
