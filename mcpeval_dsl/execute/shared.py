"""Environments that trials share: one trial at a time within the run, and one run at a time where a `lock` names it."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcpeval_dsl.semantics.model import Environment

POLL_SECONDS = 0.2


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
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
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
