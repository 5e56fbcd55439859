"""The door as a server over HTTP, on loopback and behind a token that only the host is told.

Place in the pipeline: beside the proxy over stdio, for hosts that start no process. One line on standard output says where
it is and with which token; nothing else is written there.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from mcpeval_dsl.gateway.control import Control
from mcpeval_dsl.gateway.proxy import Proxy, until_orphaned

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def guarded(app: App, token: str) -> App:
    """The same application for those who know the token; 401 for everybody else."""
    wanted = f"Bearer {token}".encode()

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers") or ()).get(b"authorization", b"")
        if scope["type"] != "http" or hmac.compare_digest(given, wanted):
            return await app(scope, receive, send)
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    return run


async def serve_http(control: Control, port: int) -> None:
    """Until told to end, or the process that started it is gone. Raises OSError where the port or the spool cannot be had."""
    token = secrets.token_urlsafe(32)
    proxy = Proxy(control)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    # Before the address is told: who asks at once waits in the queue instead of being refused.
    listening.listen(128)
    await proxy.begin()
    app = guarded(proxy.server.streamable_http_app(), token)
    settings = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(settings)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # of older versions; ends are ours
    line = {"url": f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", "token": token}
    os.write(1, json.dumps(line).encode() + b"\n")
    watching = asyncio.create_task(until_orphaned())
    serving = asyncio.create_task(server._serve(sockets=[listening]))
    try:
        await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.should_exit = True
        watching.cancel()
        await asyncio.wait({serving, watching}, timeout=3)
        serving.cancel()
        listening.close()
        await asyncio.shield(proxy.end())
