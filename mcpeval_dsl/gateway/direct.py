"""Requests over a pipe, written and awaited without the SDK: a call costs half as much, and nothing else changes.

Place in the pipeline: beside the SDK's session on the same transport, for calls and reads once the handshake is done. Ids are
far from the SDK's; what stands beside the parameters is what the SDK itself put there before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

import anyio

from mcpeval_dsl.gateway.recording import RecordingWriter
from mcpeval_dsl.gateway.ticket import CURRENT, Ticket
from mcpeval_dsl.gateway.wire import WireLog

FIRST_ID = 1_000_000


class DirectRequests:
    """One connection's. `ready` is False where the SDK must send: before the handshake, and while the pipe is full."""

    def __init__(self, writer: RecordingWriter, log: WireLog) -> None:
        self._writer = writer
        self._log = log
        self._ids = count(FIRST_ID)

    @property
    def ready(self) -> bool:
        return self._log.beside is not None and self._writer.ready and not self._log.closed

    async def ask(self, ticket: Ticket, parameters: Mapping[str, Any], timeout: float, most: float) -> bool:
        """Send one request and wait until its ticket has an answer, is broken, or the connection is closed.

        False when nothing came within `timeout` s, renewed by progress up to `most` s. Cancels the request at the server
        when that happens, and when it is cancelled itself.
        """
        identity, loop = next(self._ids), asyncio.get_running_loop()
        ticket.woken = loop.create_future()
        ticket.give_up = ticket.wake
        beside = {**(self._log.beside or {}), **(parameters.get("_meta") or {}), "progressToken": identity}
        body = {"jsonrpc": "2.0", "id": identity, "method": ticket.method, "params": {**parameters, "_meta": beside}}
        CURRENT.set(ticket)
        try:
            await self._writer.send_body(body)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return True
        finally:
            CURRENT.set(None)
        begun = ticket.touched
        try:
            while not ticket.woken.done():
                remaining = min(ticket.touched + timeout, begun + most) - time.monotonic()
                if remaining <= 0:
                    await self._cancel(identity, f"no answer within {timeout:g} s")
                    return False
                timer = loop.call_later(remaining, ticket.wake_to_look)
                try:
                    await ticket.woken
                finally:
                    timer.cancel()
                if ticket.looking and not self._over(ticket):
                    ticket.woken = loop.create_future()
                ticket.looking = False
        except asyncio.CancelledError:
            await asyncio.shield(self._cancel(identity, "no longer wanted"))
            raise
        if ticket.broken is not None and ticket.response is None:
            await self._cancel(identity, "the answer was no message")
        return True

    def _over(self, ticket: Ticket) -> bool:
        """An answer may come between the alarm and our looking at the time."""
        return ticket.response is not None or ticket.broken is not None or self._log.closed

    async def _cancel(self, identity: int, reason: str) -> None:
        if not self._writer.ready:
            return
        parameters = {"requestId": identity, "reason": reason}
        body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters}
        try:
            await self._writer.send_body(body)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
