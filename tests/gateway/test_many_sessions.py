"""Many sessions at once and ends at any moment: nothing is left, whatever was going on."""

from __future__ import annotations

import asyncio
import random

import psutil
import pytest

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import Pin
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from tests.gateway.starting import tiny


async def trial(pin: Pin, mode: str) -> str:
    gateway = Gateway([tiny(mode)], {"tiny": pin}, Rules(policy="execute"))
    try:
        await gateway.open()
        return (await gateway.call("agent", "tiny", "echo", {"text": "hi"})).text
    finally:
        await asyncio.shield(gateway.close())


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


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
        for _ in range(12):
            task = asyncio.create_task(trial(pin, mode))
            asyncio.get_running_loop().call_later(chance.uniform(0, 0.15), task.cancel)
            tasks.append(task)
        await asyncio.gather(*tasks, return_exceptions=True)
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.05)

    before = children()
    asyncio.run(run())
    assert children() <= before
