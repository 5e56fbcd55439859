"""What a foreign host pays for our door, and a server for its sandbox: time on the clock, seen from outside.

Run: `python benchmarks/proxy_bench.py`. Host of both is the SDK's own client over its own stdio transport; the peer has
the server behind its pipe, without anything between. The trial's door is in a third process, as a run is.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from figures import heading, show
from gateway_bench import bare
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import CallRecord, Launch
from mcpeval_dsl.gateway.outlet import outlet
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.proxy import Proxy
from mcpeval_dsl.gateway.sandbox import Sandbox, choose

SERVER = Path(__file__).parent.parent / "tests" / "gateway" / "servers" / "tiny.py"
CALLS = 300
CONCURRENT = 16
STARTS = 40


async def timed(parameters: StdioServerParameters) -> tuple[float, float, float]:
    """Milliseconds until the first answer, of the median call, and of one of many at once."""
    begun = time.perf_counter()
    with Path(os.devnull).open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode="legacy", cache=None) as client:
            await client.list_tools()
            await client.call_tool("echo", {"text": "hi"})
            first = time.perf_counter() - begun
            spent = []
            for _ in range(CALLS):
                begun = time.perf_counter()
                await client.call_tool("echo", {"text": "hi"})
                spent.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            for _ in range(CALLS // CONCURRENT):
                await asyncio.gather(*(client.call_tool("echo", {"text": "hi"}) for _ in range(CONCURRENT)))
            many = (time.perf_counter() - begun) / (CALLS // CONCURRENT * CONCURRENT)
    return first * 1000, statistics.median(spent) * 1000, many * 1000


def bare_timed() -> tuple[float, float]:
    """The same of the server behind its pipe and nothing else: first answer, median call."""
    begun = time.perf_counter()
    with bare("good") as call:
        call()
        first = time.perf_counter() - begun
        spent = []
        for _ in range(CALLS):
            begun = time.perf_counter()
            call()
            spent.append(time.perf_counter() - begun)
    return first * 1000, statistics.median(spent) * 1000


def start_ms(sandbox: Sandbox, folder: Path) -> float:
    """The least milliseconds from nothing to the end of `true`."""
    variables = {"PATH": "/usr/bin:/bin"}
    words = [*sandbox.wrapper(folder, folder, "true", variables), "true"]
    best = float("inf")
    for _ in range(STARTS):
        begun = time.perf_counter()
        subprocess.run(words, env=variables, cwd=folder, check=True)
        best = min(best, time.perf_counter() - begun)
    return best * 1000


async def door(place: Path) -> None:
    """A trial's door, until its input ends; says so on its output when it is open."""
    launch = Launch("tiny", (sys.executable, "-S", str(SERVER), "good"), env={"PATH": "/usr/bin:/bin"})
    gateway = Gateway([launch], {"tiny": await probe(launch)}, Rules(policy="execute"))
    await gateway.open()

    async def carry(server: str, tool: str, arguments: Mapping[str, Any], turn: int, name: str) -> CallRecord:
        return await gateway.call("agent", server, tool, arguments, turn=turn, wire_name=name)

    async with outlet(Proxy(carry, {tool.name: tool for tool in gateway.tools()}), place) as control:
        print(control, flush=True)
        await asyncio.to_thread(sys.stdin.read)
    await gateway.close()


@contextmanager
def started_apart(place: Path) -> Iterator[str]:
    """A door in a process of its own; its control file."""
    words = [sys.executable, __file__, "--door", str(place)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


async def main() -> int:
    heading(__file__)
    with tempfile.TemporaryDirectory(prefix="mcpe-bench-") as name:
        folder = Path(name)
        theirs = await timed(StdioServerParameters(command=sys.executable, args=["-S", str(SERVER), "good"]))
        with started_apart(folder) as control:
            arguments = ["-m", "mcpeval_dsl.cli.main", "gateway", "--config", control]
            ours = await timed(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ)))
        floor = bare_timed()
        for number, what in enumerate(("start to first answer", "one call", "one of 16 at once")):
            lowest = ("bare pipe", floor[number]) if number < len(floor) else None
            show(f"host's {what}", ours[number], "ms", None, ("server alone", theirs[number]), lowest)
        (folder / "trial").mkdir()
        plain = start_ms(Sandbox(), folder / "trial")
        for kind in ("bwrap", "landlock"):
            try:
                show(f"start in {kind}", start_ms(choose(kind), folder / "trial"), "ms", None, ("no sandbox", plain))
            except ValueError as problem:
                print(f"start in {kind}: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main() if len(sys.argv) == 1 else door(Path(sys.argv[2]))))
