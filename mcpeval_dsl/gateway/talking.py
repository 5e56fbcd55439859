"""Plain JSON-RPC with a server, word for word as written here: for checks of the protocol itself, which the SDK would mend.

Place in the pipeline: beside sessions, over the same transports; no tool is called here in a trial.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from mcpeval_dsl.gateway.asking import HttpAsker
from mcpeval_dsl.gateway.connection import CLIENT
from mcpeval_dsl.gateway.model import Era, Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.stdio import Inbox, StdioTransport, StdioWriter
from mcpeval_dsl.gateway.ticket import RawMessage

ANSWER_SECONDS = 10.0
META = "io.modelcontextprotocol/"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `message` is None where nothing did, for `problem`; `status` and `headers` (lower case) over HTTP."""

    message: Mapping[str, Any] | None = None
    problem: str = ""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def result(self) -> Mapping[str, Any] | None:
        found = self.message.get("result") if self.message is not None else None
        return found if isinstance(found, Mapping) else None

    @property
    def code(self) -> int | None:
        """Of a JSON-RPC error."""
        error = self.message.get("error") if self.message is not None else None
        code = error.get("code") if isinstance(error, Mapping) else None
        return code if isinstance(code, int) else None

    def said(self) -> str:
        """In a few words, for people."""
        status = f"HTTP status {self.status}" if self.status is not None and self.status >= 300 else ""
        if self.code is not None:
            error = self.message.get("error") if self.message is not None else None
            text = str(error.get("message", ""))[:120] if isinstance(error, Mapping) else ""
            return f"error {self.code} ({text})" + (f" with {status}" if status else "")
        if self.result is not None:
            return "a result"
        return status or self.problem or "something that is no answer"


class Asker(Protocol):
    """Carries one message there, and where `identity` is not None the answer with that id back."""

    async def exchange(
        self, text: str, identity: int | None, headers: Mapping[str, str], seconds: float
    ) -> tuple[Mapping[str, Any] | None, str, int | None, Mapping[str, str]]: ...


class PipeAsker:
    """Lines to a process."""

    def __init__(self, inbox: Inbox, writer: StdioWriter) -> None:
        self._inbox, self._writer = inbox, writer

    async def exchange(
        self, text: str, identity: int | None, headers: Mapping[str, str], seconds: float
    ) -> tuple[Mapping[str, Any] | None, str, int | None, Mapping[str, str]]:
        try:
            await self._writer.send(text.encode())
            if identity is None:
                return None, "", None, {}
            async with asyncio.timeout(seconds):
                while True:
                    item = await self._inbox.receive()
                    if isinstance(item, RawMessage) and item.body.get("id") == identity and "method" not in item.body:
                        return item.body, "", None, {}
        except TimeoutError:
            return None, f"no answer within {seconds:g} s", None, {}
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return None, "the server ended", None, {}


class Talk:
    """One conversation in one era. Every `ask` is answered or says why not; nothing raises for what a server does."""

    def __init__(self, asker: Asker, era: Era, revision: str, http: bool) -> None:
        self.era, self.revision, self.http = era, revision, http
        self.headers: dict[str, str] = {}
        self._asker = asker
        self._last = 0

    async def begin(self) -> Reply:
        """The handshake of the older era, `server/discover` in the newer."""
        if self.era == "discover":
            return await self.ask("server/discover")
        reply = await self.initialize(self.revision)
        if reply.result is not None:
            session = reply.headers.get("mcp-session-id")
            self.headers |= {"mcp-session-id": session} if session else {}
            self.headers["mcp-protocol-version"] = str(reply.result.get("protocolVersion", self.revision))
            await self.tell("notifications/initialized")
        return reply

    async def initialize(self, revision: str) -> Reply:
        """Only the question."""
        client = {"name": CLIENT.name, "version": CLIENT.version}
        return await self.ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client})

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        meta: Mapping[str, Any] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Reply:
        """One request. `headers` and `meta` replace those that belong to it; an empty value leaves one out."""
        self._last += 1
        body = {"jsonrpc": "2.0", "id": self._last, "method": method}
        return await self._sent(body, params, headers or {}, meta, seconds)

    async def tell(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        """One notification."""
        return await self._sent({"jsonrpc": "2.0", "method": method}, params, {}, None, ANSWER_SECONDS)

    async def post(self, text: str, seconds: float = ANSWER_SECONDS) -> Reply:
        """A text as it is, which need not be a message; over pipes nothing is waited for."""
        return Reply(*await self._asker.exchange(text, 0 if self.http else None, dict(self.headers), seconds))

    @property
    def last(self) -> int:
        """Id of the latest request."""
        return self._last

    async def _sent(
        self,
        body: dict[str, Any],
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        meta: Mapping[str, Any] | None,
        seconds: float,
    ) -> Reply:
        given = dict(params or {})
        if self.era == "discover":
            given["_meta"] = self._meta() if meta is None else dict(meta)
        if given:
            body["params"] = given
        own = {**self.headers, **self._own_headers(str(body["method"]), given), **headers}
        kept = {name: value for name, value in own.items() if value}
        return Reply(*await self._asker.exchange(json.dumps(body), body.get("id"), kept, seconds))

    def _meta(self) -> dict[str, Any]:
        client = {"name": CLIENT.name, "version": CLIENT.version}
        return {f"{META}protocolVersion": self.revision, f"{META}clientCapabilities": {}, f"{META}clientInfo": client}

    def _own_headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        if self.era != "discover":
            return {}
        found = {"mcp-protocol-version": self.revision, "mcp-method": method}
        name = params.get(_NAMED.get(method, ""))
        return {**found, "mcp-name": str(name)} if name is not None else found


@contextlib.asynccontextmanager
async def talk(launch: Launch, pin: Pin | None, drop: frozenset[str] = frozenset()) -> AsyncIterator[Talk]:
    """A conversation with a server that a probe knows, or with the era it claims first; `drop` names headers to leave out.

    Starts and ends the process. Raises ServerStartError where there is nobody to talk to.
    """
    era, revision = (pin.era, pin.revision) if pin is not None else claimed(launch)
    if launch.url is not None:
        headers = {name: value for name, value in launch.headers.items() if name.lower() not in drop}
        async with HttpAsker(launch, headers).open() as asker:
            yield Talk(asker, era, revision, True)
        return
    async with StdioTransport(launch).run() as (inbox, writer):
        yield Talk(PipeAsker(inbox, writer), era, revision, False)


def claimed(launch: Launch) -> tuple[Era, str]:
    """Era and revision to begin with where no probe succeeded: the newest of those the spec names, else the older era's."""
    named = launch.protocols or HANDSHAKE_PROTOCOL_VERSIONS
    newest = [revision for revision in MODERN_PROTOCOL_VERSIONS if revision in named]
    older = [revision for revision in HANDSHAKE_PROTOCOL_VERSIONS if revision in named]
    if newest and launch.protocols:
        return "discover", newest[-1]
    if not older:
        raise ServerStartError(launch.server, "unsupported_revision", "no known protocol revision is claimed")
    return "initialize", older[-1]


__all__ = ["ANSWER_SECONDS", "META", "Asker", "Reply", "Talk", "claimed", "talk"]
