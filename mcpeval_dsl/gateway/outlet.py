"""Where the trial's door listens for a foreign host: a socket of this machine, behind a token.

Place in the pipeline: in the run, between relays (the processes that hosts start) and the proxy. However many a host starts, one
after the other or at once, they all lead to the same door. What is still under way when a host goes is ended and on record.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp.server.stdio import stdio_server

from mcpeval_dsl.gateway.control import Control, write_control
from mcpeval_dsl.gateway.proxy import Proxy

LONGEST_LINE = 64 * 1024 * 1024
HELLO_SECONDS = 10.0
LONGEST_PATH = 100
"""Bytes of the name of a socket; systems take 104 to 108."""


@contextlib.asynccontextmanager
async def outlet(proxy: Proxy, place: Path, trial: str = "") -> AsyncIterator[Path]:
    """Listen in `place`, a new folder of its owner only; the control file there is what a host is told.

    At the end no connection is open and nothing of a host is under way. Raises OSError.
    """
    path = place / "door"
    if len(bytes(path)) > LONGEST_PATH:
        raise OSError(f"{path} is too long for the name of a socket; set TMPDIR to a shorter folder")
    token = secrets.token_urlsafe(32)
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await _served(proxy, token, reader, writer)
        finally:
            connections.discard(task)
            writer.close()

    listening = await asyncio.start_unix_server(connected, path, limit=LONGEST_LINE)
    control = place / "control.json"
    try:
        write_control(control, Control(str(path), token, trial))
        yield control
    finally:
        listening.close()
        control.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        for task in connections:
            task.cancel()
        if connections:
            await asyncio.wait(connections)
        await proxy.calls.end()


async def _served(proxy: Proxy, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, to its end. Who does not say the token hears nothing."""
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            said = json.loads(await reader.readline())
    except (ValueError, TimeoutError, OSError):
        return
    if not isinstance(said, dict) or not hmac.compare_digest(str(said.get("token")).encode(), token.encode()):
        return
    port = said.get("http")
    if isinstance(port, int):
        from mcpeval_dsl.gateway.proxy_http import serve_http

        await serve_http(proxy, port, reader, writer)
        return
    lines: Any = _Lines(reader, writer)
    try:
        async with stdio_server(lines, lines) as (read, write):
            await proxy.server.run(read, write, proxy.server.create_initialization_options())
    except* (OSError, ValueError):
        # The host is gone, or has sent a line that nobody can hold: its connection ends, the trial does not.
        writer.transport.abort()


class _Lines:
    """A connection as the SDK's transport over pipes wants it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            yield line.decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await self._writer.drain()
