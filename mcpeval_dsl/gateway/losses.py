"""Connections that break in the middle of a request: that request fails at once, and the session over HTTP goes on.

Place in the pipeline: between the HTTP client and the network. The SDK ends a whole session when one of its requests is cut
off; over HTTP each has a connection of its own, and a server that dropped one may well answer the next.
"""

from __future__ import annotations

import json
import ssl

import httpx2

from mcpeval_dsl.gateway.ticket import CURRENT, Ticket
from mcpeval_dsl.gateway.wire import number_of

LOST = "Lost connection: "
"""Begins the message of the error that stands for an answer that never came."""

CALLS = ("tools/call", "resources/read")
RESUMES = 10
"""How often a stream is taken up again from one and the same event."""


class MendingTransport(httpx2.AsyncHTTPTransport):
    """Answers calls that are cut off itself, with an error that `words_of_loss` knows; all else fails as it does."""

    def __init__(self, verify: ssl.SSLContext) -> None:
        super().__init__(verify=verify, trust_env=False)
        self._resumed: dict[str, int] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        ticket = CURRENT.get() if request.method == "POST" else None
        if request.method == "GET":
            self._bound(request)
        try:
            return await super().handle_async_request(request)
        except httpx2.TransportError as problem:
            if ticket is None or ticket.method not in CALLS:
                raise
            return _in_its_place(ticket, problem)

    def _bound(self, request: httpx2.Request) -> None:
        """A server may let a stream end and be taken up again, but not for ever at the same place."""
        event = request.headers.get("last-event-id")
        if event is not None:
            self._resumed[event] = self._resumed.get(event, 0) + 1
            if self._resumed[event] > RESUMES:
                raise httpx2.ConnectError(f"the stream ended {RESUMES} times at the same event", request=request)


def _in_its_place(ticket: Ticket, problem: Exception) -> httpx2.Response:
    if ticket.request_id is None:
        return httpx2.Response(202)
    body = loss(number_of(ticket.request_id), problem)
    return httpx2.Response(200, headers={"content-type": "application/json"}, content=body)


def loss(identity: int | str | None, problem: Exception) -> bytes:
    """The error that stands for an answer that broke off."""
    error = {"code": -32000, "message": LOST + (str(problem).strip() or type(problem).__name__)[:300]}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()


def words_of_loss(message: str) -> str | None:
    """What became of the connection, where the message is that of `loss`."""
    return f"the connection was lost: {message.removeprefix(LOST)}" if message.startswith(LOST) else None
