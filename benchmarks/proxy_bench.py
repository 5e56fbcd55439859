"""What a foreign host pays for our door, and a server for its sandbox: time on the clock, seen from outside.

Run: `python benchmarks/proxy_bench.py`. Host of both is the SDK's own client over its own stdio transport; the peer has
the server behind its pipe, without anything between. Every call through the door is on the disk before it returns,
so the disk decides.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import heading, show
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpeval_dsl.gateway.control import Control, write_control
from mcpeval_dsl.gateway.model import Launch
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
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


async def main() -> int:
    heading(__file__)
    with tempfile.TemporaryDirectory(prefix="mcpe-bench-") as name:
        folder = Path(name)
        launch = Launch("tiny", (sys.executable, "-S", str(SERVER), "good"), env={"PATH": "/usr/bin:/bin"})
        pin = await probe(launch)
        write_control(
            folder / "control.json",
            Control(str(folder / "spool.jsonl"), (launch,), {"tiny": pin}, Rules(policy="execute")),
        )
        arguments = ["-m", "mcpeval_dsl.cli.main", "gateway", "--config", str(folder / "control.json")]
        ours = await timed(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ)))
        theirs = await timed(StdioServerParameters(command=sys.executable, args=["-S", str(SERVER), "good"]))
        for what, mine, peer in zip(
            ("start to first answer", "one call", "one of 16 at once"), ours, theirs, strict=True
        ):
            show(f"host's {what}", mine, "ms", None, ("server alone", peer))
        (folder / "trial").mkdir()
        plain = start_ms(Sandbox(), folder / "trial")
        for kind in ("bwrap", "landlock"):
            try:
                show(f"start in {kind}", start_ms(choose(kind), folder / "trial"), "ms", None, ("no sandbox", plain))
            except ValueError as problem:
                print(f"start in {kind}: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
