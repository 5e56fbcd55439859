"""What the gateway costs: CPU of this process for one session, one call, a large result and a flood of notifications.

Run: `python benchmarks/gateway_bench.py`. The peer is the SDK's own client over its own stdio transport, without a record,
permissions or budgets; the floor is a loop of our own that writes a line, reads a line and parses it. The server's CPU is not in
the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from figures import heading, show
from mcp import Client, StdioServerParameters

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe

SERVER = Path(__file__).parent.parent / "tests" / "gateway" / "servers" / "tiny.py"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
SESSIONS = 50
ROUNDS = 3
CALLS = (("one call", "good", 500), ("16 MB result", "huge", 2), ("20,000 notifications", "flood", 2))

Call = Callable[[], Awaitable[object]]


def arguments(mode: str) -> list[str]:
    return ["-S", str(SERVER), mode]


@contextlib.asynccontextmanager
async def ours(mode: str, pin: Pin) -> AsyncIterator[Call]:
    launch = Launch("tiny", (sys.executable, *arguments(mode)), env=ENVIRONMENT)
    gateway = Gateway([launch], {"tiny": pin}, Rules(policy="execute"))
    await gateway.open()
    yield lambda: gateway.call("agent", "tiny", "echo", {"text": "hi"})
    await gateway.close()


@contextlib.asynccontextmanager
async def peer(mode: str) -> AsyncIterator[Call]:
    parameters = StdioServerParameters(command=sys.executable, args=arguments(mode), env=ENVIRONMENT)
    async with Client(parameters, mode="legacy") as client:
        await client.list_tools()
        yield lambda: client.call_tool("echo", {"text": "hi"})


@contextlib.contextmanager
def bare(mode: str) -> Iterator[Callable[[], object]]:
    """The same server behind its pipe, and nothing else: no ids are looked at, nothing is kept."""
    words = [sys.executable, *arguments(mode)]
    with subprocess.Popen(words, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        pipe, output = server.stdin, server.stdout

        def ask(method: str, params: dict[str, Any]) -> object:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            pipe.write(json.dumps(body).encode() + b"\n")
            pipe.flush()
            while "id" not in (answer := json.loads(output.readline())):
                pass
            return answer

        client = {"name": "bare", "version": "1"}
        ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        pipe.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        ask("tools/list", {})
        yield lambda: ask("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
        pipe.close()


def bare_ms(mode: str, count: int) -> float:
    """As `cpu_ms`, of the bare pipe."""
    with bare(mode) as call:
        best = float("inf")
        for _ in range(ROUNDS):
            started = time.process_time()
            for _ in range(count):
                call()
            best = min(best, (time.process_time() - started) * 1000 / count)
    return best


async def cpu_ms(work: Call, count: int) -> float:
    """Least CPU milliseconds of one piece of work, of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(count):
            await work()
        best = min(best, (time.process_time() - started) * 1000 / count)
    return best


async def session(opened: Callable[[], contextlib.AbstractAsyncContextManager[Call]]) -> None:
    async with opened() as call:
        await call()


async def main() -> int:
    heading(__file__)
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    pins = {
        mode: await probe(Launch("tiny", (sys.executable, *arguments(mode)), env=ENVIRONMENT))
        for mode in ("good", "huge", "flood")
    }
    spent = await cpu_ms(lambda: session(lambda: ours("good", pins["good"])), SESSIONS)
    theirs = await cpu_ms(lambda: session(lambda: peer("good")), SESSIONS)
    show("session: open, list, one call, close", spent, "ms", None, ("SDK client", theirs))
    for name, mode, count in CALLS:
        async with ours(mode, pins[mode]) as call:
            spent = await cpu_ms(call, count)
        async with peer(mode) as call:
            theirs = await cpu_ms(call, count)
        show(name, spent, "ms", None, ("SDK client", theirs), ("bare pipe", bare_ms(mode, count)))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
