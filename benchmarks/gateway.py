"""What the gateway costs: CPU of this process for one session, one call, a large result and a flood.

Run with `python -m benchmarks.gateway`; prints one line of JSON for each figure. Server CPU is not in the figures.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe

SERVER = Path(__file__).parent.parent / "tests" / "gateway" / "servers" / "tiny.py"
SESSIONS = 100
CALLS = 1_000


def launch(mode: str) -> Launch:
    return Launch("tiny", (sys.executable, "-S", str(SERVER), mode), env={"PATH": "/usr/bin:/bin"})


def door(mode: str, pin: Pin) -> Gateway:
    return Gateway([launch(mode)], {"tiny": pin}, Rules(policy="execute"))


async def measured(name: str, count: int, work: Callable[[], Awaitable[None]]) -> None:
    """Print CPU milliseconds of this process and wall milliseconds for each of `count` pieces of work."""
    cpu, wall = time.process_time(), time.monotonic()
    await work()
    cpu, wall = (time.process_time() - cpu) * 1000 / count, (time.monotonic() - wall) * 1000 / count
    print(json.dumps({"figure": name, "cpu_ms": round(cpu, 3), "wall_ms": round(wall, 3), "n": count}))


async def sessions(pin: Pin) -> None:
    for _ in range(SESSIONS):
        gateway = door("good", pin)
        await gateway.open()
        await gateway.call("agent", "tiny", "echo", {"text": "hi"})
        await gateway.close()


async def main() -> None:
    pin = await probe(launch("good"))
    await sessions(pin)
    await measured("session: open, list, one call, close", SESSIONS, lambda: sessions(pin))
    for mode, name, count in (("good", "call", CALLS), ("huge", "16 MB result", 3), ("flood", "20,000 notifications", 3)):
        gateway = door(mode, await probe(launch(mode)))
        await gateway.open()

        async def calls(gateway: Gateway = gateway, count: int = count) -> None:
            for _ in range(count):
                await gateway.call("agent", "tiny", "echo", {"text": "hi"})

        await measured(name, count, calls)
        await gateway.close()


if __name__ == "__main__":
    asyncio.run(main())
