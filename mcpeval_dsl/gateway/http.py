"""A server behind a URL: streamable HTTP through the SDK, with the status and headers of every answer kept.

Place in the pipeline: a transport under the SDK's session; `recording` wraps it. The SDK turns an HTTP error into an
error of its own and loses the status, so a hook of the HTTP client tells it to the ticket.
"""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache, partial
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED

from mcpeval_dsl.gateway.bodies import UNREADABLE, BoundedBody, kind_of_body
from mcpeval_dsl.gateway.losses import MendingTransport, words_of_loss
from mcpeval_dsl.gateway.model import Launch, SessionEnd
from mcpeval_dsl.gateway.ticket import CURRENT, RawMessage, Ticket
from mcpeval_dsl.gateway.wire import Ending, number_of

CONNECT_SECONDS = 10.0
READ_SECONDS = 3_600.0
KEPT_HEADERS = ("content-type", "retry-after", "www-authenticate", "location", "server", "date")


async def _note_status(response: httpx2.Response, limit: int) -> None:
    ticket = CURRENT.get() if response.request.method == "POST" else None
    _bound(response, limit, ticket)
    if ticket is None:
        return
    ticket.status = response.status_code
    ticket.headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
    if response.status_code >= 400:
        ticket.peer_error = _holds_error(await response.aread())


def _bound(response: httpx2.Response, limit: int, ticket: Ticket | None) -> None:
    """Let the SDK read no more than a message may have, and nothing that is none."""

    def measured(message: RawMessage) -> None:
        if ticket is not None:
            ticket.measured = message

    own = None if ticket is None or ticket.request_id is None else number_of(ticket.request_id)
    kind = kind_of_body(response.headers.get("content-type", "").lower())
    response.stream = BoundedBody(response.stream, kind, limit, own, measured)


def _holds_error(body: bytes) -> bool:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return False
    error = parsed.get("error") if isinstance(parsed, dict) else None
    return isinstance(error, dict) and not str(error.get("message", "")).startswith(UNREADABLE)


def made_by_sdk(error: Mapping[str, Any], ticket: Ticket) -> tuple[Ending, str] | None:
    """The SDK answers requests itself where HTTP failed: how such a request truly ended; None for a peer's own error."""
    status, message = ticket.status, str(error.get("message", ""))
    if (words := words_of_loss(message)) is not None:
        return "dead", words
    if status is not None and status >= 400:
        return None if ticket.peer_error else ("http_error", f"HTTP status {status}")
    if status is not None and 300 <= status < 400:
        return "http_error", f"HTTP status {status}, redirects to {ticket.headers.get('location', 'nowhere')}"
    if status == 202 or message.startswith("Unexpected content type"):
        kind = ticket.headers.get("content-type") or "no content"
        return "malformed", f"HTTP status {status} with {kind} instead of a message"
    if message.startswith(UNREADABLE):
        return "malformed", message.removeprefix(UNREADABLE)
    if message.startswith(("Failed to parse JSON response", "Failed to parse SSE message")):
        return "malformed", "an answer that is no JSON-RPC message"
    if error.get("code") == CONNECTION_CLOSED and message.startswith("SSE stream"):
        return "dead", "the connection was lost: the event stream ended without the answer"
    return None


@lru_cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes as long as a session."""
    return httpx2.create_ssl_context(trust_env=False)


@lru_cache
def _nobodys() -> ssl.SSLContext:
    """Trusts no certificate, for addresses where there is none."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


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
        url = self.launch.url or ""
        client = httpx2.AsyncClient(
            # Bodies are bounded as they come over the wire, so they must come as they are.
            headers={"accept-encoding": "identity", **self.launch.headers},
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
            event_hooks={"response": [partial(_note_status, limit=self.launch.max_message_bytes)]},
            transport=MendingTransport(_certificates() if url.startswith("https:") else _nobodys()),
            trust_env=False,
        )
        async with client, streamable_http_client(url, http_client=client, max_sse_event_size=None) as (read, write):
            yield read, write

    def remember_family(self) -> None:
        """There is no process of ours."""

    async def settle(self) -> None:
        """There is no exit code to wait for."""

    def end(self, reason: str) -> SessionEnd:
        return SessionEnd(None, "", False, reason)
