"""A network of a trial's own: how it ends."""

from __future__ import annotations

import asyncio
import socket

import pytest

from mcpeval_dsl.gateway.spaces import Space


def test_the_news_that_its_holder_has_ended_is_left_to_those_who_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a process that has just ended takes its exit code away: asyncio then says that it does not know the process."""

    async def go() -> int | None:
        holder = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)

        def looked() -> None:
            raise AssertionError("it was looked at")

        monkeypatch.setattr(holder, "kill", looked)
        ours, theirs = socket.socketpair()
        with theirs:
            await Space(holder, ours).close()
        return holder.returncode

    assert asyncio.run(go()) == -9
