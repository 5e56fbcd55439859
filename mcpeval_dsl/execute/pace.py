"""A server's own `rate`: calls of all trials of a run start no closer together than it allows."""

from __future__ import annotations

import asyncio
from typing import Any

from mcpeval_dsl.semantics.model import Server


class Pace:
    """Hands out starting times `1 / rate` seconds apart, per server, in the order they are asked for."""

    def __init__(self) -> None:
        self._free: dict[str, float] = {}

    async def wait(self, server: Server) -> float:
        """Wait for the server's next free moment; the seconds waited."""
        if not server.rate:
            return 0.0
        now = asyncio.get_running_loop().time()
        start = max(now, self._free.get(server.name, now))
        self._free[server.name] = start + 1.0 / server.rate
        if start > now:
            await asyncio.sleep(start - now)
        return start - now


def pace_of(shared: dict[str, Any]) -> Pace:
    """The pace that all trials of a run keep."""
    pace: Pace = shared.setdefault("pace", Pace())
    return pace
