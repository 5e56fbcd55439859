"""A server behind a URL: streamable HTTP through the SDK, with the status and headers of every answer kept.

Place in the pipeline: a transport under the SDK's session; `recording` wraps it. The SDK turns an HTTP error into an
error of its own and loses the status, so a hook of the HTTP client tells it to the ticket.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from mcpeval_dsl.gateway.model import Launch, SessionEnd
from mcpeval_dsl.gateway.wire import CURRENT

CONNECT_SECONDS = 10.0
READ_SECONDS = 3_600.0
KEPT_HEADERS = ("content-type", "retry-after", "www-authenticate", "location", "server", "date")


async def _note_status(response: httpx2.Response) -> None:
    ticket = CURRENT.get()
    if ticket is not None and response.request.method == "POST":
        ticket.status = response.status_code
        ticket.headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}


class HttpTransport:
    """One connection to a URL; nothing of the operator's environment (proxies, netrc) is used."""

    pid: int | None = None
    exit_code: int | None = None
    stderr_tail = ""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[tuple[Any, Any]]:
        """Streams of typed messages. Raises what the HTTP client raises, inside exception groups."""
        client = httpx2.AsyncClient(
            headers=dict(self.launch.headers),
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
            event_hooks={"response": [_note_status]},
            trust_env=False,
        )
        url = self.launch.url or ""
        async with client, streamable_http_client(url, http_client=client, max_sse_event_size=None) as (read, write):
            yield read, write

    def remember_family(self) -> None:
        """There is no process of ours."""

    async def settle(self) -> None:
        """There is no exit code to wait for."""

    def end(self, reason: str) -> SessionEnd:
        return SessionEnd(None, "", False, reason)
