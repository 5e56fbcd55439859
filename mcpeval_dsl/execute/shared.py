"""Environments that trials share: set up once for the run, one trial at a time, and one run at a time under a `lock`."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.semantics.model import Cell, Environment
from mcpeval_dsl.values.model import EvaluationError

if TYPE_CHECKING:
    from mcpeval_dsl.execute.world import World

POLL_SECONDS = 0.2
END_SECONDS = 120.0


async def base_of(context: RunContext, environment: Environment, cell: Cell | None) -> World:
    """The world that the trials of a `scope run` environment have in common: its folder, ports and processes.

    Made by the first trial (or probe, or harvest) that comes. Raises StepFailed, EvaluationError; the next one tries again.
    """
    from mcpeval_dsl.execute.world import World

    bases = _bases(context)
    if environment.name not in bases:
        world = World(context, f"environment {environment.name}", cell, environment, base=True)
        try:
            await world.create()
            await world.set_up(None)
            await world.end_sessions()
        except BaseException:
            await asyncio.shield(world.close())
            world.remove()
            raise
        bases[environment.name] = world
    return bases[environment.name]


async def end_shared(context: RunContext) -> tuple[str, ...]:
    """Teardown and end of every shared environment; what went wrong with it, in sentences."""
    problems = []
    bases = _bases(context)
    for name, world in bases.items():
        try:
            async with asyncio.timeout(END_SECONDS):
                await world.tear_down()
        except (StepFailed, EvaluationError, TimeoutError) as error:
            problems.append(f"teardown of the environment {name} failed: {error or 'it took too long'}")
        finally:
            await asyncio.shield(world.close())
            world.remove()
    bases.clear()
    return tuple(problems)


def _bases(context: RunContext) -> dict[str, World]:
    found: dict[str, World] = context.shared.setdefault("bases", {})
    return found


@asynccontextmanager
async def shared_lock(shared: dict[str, Any], environment: Environment) -> AsyncIterator[None]:
    """Held while a trial uses the environment. Locks of several runs are files in the temporary folder."""
    lock: asyncio.Lock = shared.setdefault(f"lock:{environment.name}", asyncio.Lock())
    async with lock:
        if environment.lock is None:
            yield
            return
        name = hashlib.sha256(environment.lock.encode()).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"mcpe-{os.getuid()}-{name}.lock"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _taken(handle):
                await asyncio.sleep(POLL_SECONDS)
            yield
        finally:
            os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
