"""Many sessions at once and ends at any moment: nothing is left, whatever was going on."""

from __future__ import annotations

import asyncio
import gc
import random
import sys

import psutil
import pytest

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import CallRecord, Launch, Pin
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from tests.gateway.starting import ENVIRONMENT, SERVERS, tiny


async def trial(pin: Pin, mode: str) -> str:
    gateway = Gateway([tiny(mode)], {"tiny": pin}, Rules(policy="execute"))
    try:
        await gateway.open()
        return (await gateway.call("agent", "tiny", "echo", {"text": "hi"})).text
    finally:
        await asyncio.shield(gateway.close())


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


def descriptors() -> int:
    gc.collect()
    return psutil.Process().num_fds()


def test_forty_sessions_side_by_side() -> None:
    async def run() -> list[str]:
        pin = await probe(tiny())
        return await asyncio.gather(*(trial(pin, "good") for _ in range(40)))

    before = children()
    assert asyncio.run(run()) == ["hi"] * 40
    assert children() <= before


@pytest.mark.parametrize("mode", ["good", "hang", "orphan"])
def test_a_trial_cut_at_any_moment_leaves_no_process(mode: str) -> None:
    async def run() -> None:
        pin = await probe(tiny())
        chance = random.Random(mode)
        tasks = []
        for _ in range(20):
            task = asyncio.create_task(trial(pin, mode))
            asyncio.get_running_loop().call_later(chance.uniform(0, 0.15), task.cancel)
            tasks.append(task)
        await asyncio.gather(*tasks, return_exceptions=True)
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.05)

    before, open_before = children(), descriptors()
    asyncio.run(run())
    assert children() <= before
    assert descriptors() <= open_before


def test_sessions_one_after_the_other_leave_nothing() -> None:
    async def run(count: int) -> None:
        for _ in range(count):
            assert await trial(pin, "good") == "hi"

    pin = asyncio.run(probe(tiny()))
    asyncio.run(run(5))
    before, open_before, memory = children(), descriptors(), psutil.Process().memory_info().rss
    asyncio.run(run(40))
    assert children() <= before
    assert descriptors() <= open_before
    assert psutil.Process().memory_info().rss - memory < 8 * 2**20


def test_large_results_at_once_take_the_memory_of_their_ends() -> None:
    async def run() -> tuple[int, list[CallRecord]]:
        pin = await probe(large)
        gateways = [Gateway([large], {"tiny": pin}, Rules(policy="execute")) for _ in range(4)]
        most, me = 0, psutil.Process()
        try:
            for gateway in gateways:
                await gateway.open()
            before = me.memory_info().rss
            calls = [asyncio.create_task(gateway.call("agent", "tiny", "bad", {})) for gateway in gateways]
            while not all(call.done() for call in calls):
                await asyncio.sleep(0.01)
                most = max(most, me.memory_info().rss - before)
            return most, [call.result() for call in calls]
        finally:
            await asyncio.gather(*(gateway.close() for gateway in gateways))

    argv = (sys.executable, "-S", str(SERVERS / "hostile.py"), "large")
    large = Launch("tiny", argv, env=ENVIRONMENT, call_timeout=60.0)
    most, records = asyncio.run(run())
    assert [record.truncated for record in records] == [True] * 4
    assert all(record.result_bytes > 100 * 2**20 for record in records)
    assert most < 80 * 2**20
