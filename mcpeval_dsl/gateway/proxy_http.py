"""The proxy over HTTP, on loopback and behind a token that only the host is told.

Place in the pipeline: beside the proxy over pipes, for hosts that start no process. One line tells whoever asked where it
is and with which token.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from mcpeval_dsl.gateway.proxy import Proxy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
END_SECONDS = 3.0


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


async def serve_http(proxy: Proxy, port: int, asker: asyncio.StreamReader, told: asyncio.StreamWriter) -> None:
    """Until the one who asked for it is gone. A port that cannot be had is said to them."""
    token = secrets.token_urlsafe(32)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as problem:
            told.write(json.dumps({"error": f"port {port}: {problem.strerror}"}).encode() + b"\n")
            return
        # Before the address is told: who asks at once waits in the queue instead of being refused.
        listening.listen(128)
        settings = uvicorn.Config(
            guarded(proxy.server.streamable_http_app(), token),
            log_config=None,
            log_level="critical",
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(settings)
        serving = asyncio.create_task(server._serve(sockets=[listening]))
        leaving = asyncio.create_task(asker.read())
        line = {"url": f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", "token": token}
        told.write(json.dumps(line).encode() + b"\n")
        try:
            await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.should_exit = True
            leaving.cancel()
            try:
                await asyncio.wait({serving}, timeout=END_SECONDS)
            finally:
                serving.cancel()
                await asyncio.wait({serving})
