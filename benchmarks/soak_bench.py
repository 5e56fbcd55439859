"""What many sessions leave behind: 1,000 one after the other, 600 cut off at a random moment, ten results of 100 MB at once.

Run: `python benchmarks/soak_bench.py [SESSIONS [CANCELLED]]`. It ends with an error where a process, a descriptor or more memory
than allowed is left, where ten large results take more than their memory, or where the loop stands still for too long.
"""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
from figures import heading

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe

SERVERS = Path(__file__).parent.parent / "tests" / "gateway" / "servers"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
MEGABYTE = 1024 * 1024
WARM = 50
AT_ONCE = 8
GROWTH_LIMIT = 4.0
"""MB of resident memory that all sessions after the first WARM may add."""
LARGE = 10
LARGE_LIMIT = 100.0
LAG_LIMIT = 100.0


def launch(script: str, mode: str) -> Launch:
    return Launch("tiny", (sys.executable, "-S", str(SERVERS / script), mode), env=ENVIRONMENT, call_timeout=60.0)


async def trial(pin: Pin, how: Launch, tool: str) -> int:
    """What a trial does to its server; bytes of the result."""
    gateway = Gateway([how], {"tiny": pin}, Rules(policy="execute"))
    try:
        await gateway.open()
        return (await gateway.call("agent", "tiny", tool, {})).result_bytes
    finally:
        await asyncio.shield(gateway.close())


def state() -> tuple[int, int, float]:
    """Child processes, descriptors and resident MB of this process."""
    gc.collect()
    me = psutil.Process()
    return len(me.children(recursive=True)), len(list(Path("/proc/self/fd").iterdir())), me.memory_info().rss / MEGABYTE


def told(name: str, before: tuple[int, int, float], after: tuple[int, int, float], took: float) -> bool:
    processes, descriptors, memory = (late - early for early, late in zip(before, after, strict=True))
    good = processes <= 0 and descriptors <= 0 and memory <= GROWTH_LIMIT
    mark = "" if good else "   ABOVE ITS LIMIT"
    print(f"  {name:38} processes {processes:+d}, descriptors {descriptors:+d}, {memory:+.1f} MB; {took:.0f} s{mark}")
    return good


async def one_after_the_other(count: int) -> bool:
    how = launch("tiny.py", "good")
    pin = await probe(how)
    for _ in range(WARM):
        await trial(pin, how, "echo")
    before, started = state(), time.monotonic()
    for _ in range(count):
        await trial(pin, how, "echo")
    return told(f"{count} sessions, one after the other", before, state(), time.monotonic() - started)


async def cut_off(count: int) -> bool:
    modes = {mode: launch("tiny.py", mode) for mode in ("good", "hang", "orphan", "ignores_end")}
    pin = await probe(modes["good"])
    chance = random.Random(7)

    async def cut(mode: str) -> None:
        running = asyncio.create_task(trial(pin, modes[mode], "echo"))
        await asyncio.sleep(chance.uniform(0.0, 0.12))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    async def all_of(number: int) -> None:
        waiting = iter(chance.choices(list(modes), (20, 8, 2, 1), k=number))

        async def lane() -> None:
            for mode in waiting:
                await cut(mode)

        await asyncio.gather(*(lane() for _ in range(AT_ONCE)))
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.05)

    await all_of(WARM)
    before, started = state(), time.monotonic()
    await all_of(count)
    return told(f"{count} sessions, cut off at any moment", before, state(), time.monotonic() - started)


@asynccontextmanager
async def watched() -> AsyncIterator[dict[str, float]]:
    """The longest time (ms) the loop stood still, how much of it this process worked, and the most resident memory (MB)."""
    seen = {"lag": 0.0, "busy": 0.0, "memory": 0.0}
    me = psutil.Process()

    async def watch() -> None:
        while True:
            begun, worked = time.monotonic(), time.process_time()
            await asyncio.sleep(0.005)
            seen["lag"] = max(seen["lag"], (time.monotonic() - begun - 0.005) * 1000)
            seen["busy"] = max(seen["busy"], (time.process_time() - worked) * 1000)
            seen["memory"] = max(seen["memory"], me.memory_info().rss / MEGABYTE)

    watching = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        watching.cancel()


async def large() -> bool:
    how = launch("hostile.py", "large")
    pin = await probe(how)
    await trial(pin, how, "good")
    gateways = [Gateway([how], {"tiny": pin}, Rules(policy="execute")) for _ in range(LARGE)]
    for gateway in gateways:
        await gateway.open()
    before, started = state()[2], time.process_time()
    async with watched() as seen:
        records = await asyncio.gather(*(gateway.call("agent", "tiny", "bad", {}) for gateway in gateways))
    spent = time.process_time() - started
    await asyncio.gather(*(gateway.close() for gateway in gateways))
    more = seen["memory"] - before
    whole = all(record.result_bytes > 100 * MEGABYTE and record.truncated and not record.is_error for record in records)
    good = whole and more <= LARGE_LIMIT and seen["busy"] <= LAG_LIMIT
    mark = "" if good else "   ABOVE ITS LIMIT"
    print(
        f"  {f'{LARGE} results of 100 MB at once':38} {more:+.0f} MB, loop lag {seen['lag']:.0f} ms, of it"
        f" {seen['busy']:.0f} ms work of ours, {spent:.1f} s of CPU{mark}"
    )
    return good


async def main() -> int:
    heading(__file__)
    words = [int(word) for word in sys.argv[1:]]
    sessions, cancelled = (*words, *(1_000, 600)[len(words) :])
    good = [await large(), await one_after_the_other(sessions), await cut_off(cancelled)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
