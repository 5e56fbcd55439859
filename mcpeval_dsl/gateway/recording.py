"""The recorder between a transport and the SDK: every message passes here, is kept, and is told to its ticket.

Place in the pipeline: wraps any transport. The SDK gets only what it needs: answers that somebody waits for and
requests of the server; notifications and noise end here, so that a flood of them cannot hold up a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import to_json

from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireLog, WireNoise, json_size, number_of

LOCAL_PARSE_ERROR = -32700
MESSAGE_KEYS = frozenset({"jsonrpc", "id", "method", "result", "error"})
"""An object without any of them is a line of a log, though it is JSON."""


def body_of(message: Any) -> dict[str, Any]:
    """A typed message as the object on the wire, without copying what is inside."""
    if isinstance(message, JSONRPCResponse):
        return {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    if isinstance(message, JSONRPCError):
        error = {"code": message.error.code, "message": message.error.message, "data": message.error.data}
        return {"jsonrpc": "2.0", "id": message.id, "error": error}
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": message.method}
    if isinstance(message, JSONRPCRequest):
        body["id"] = message.id
    if message.params is not None:
        body["params"] = message.params
    return body


class RecordingReader:
    """The read side as the SDK wants it. Iteration ends when the transport does, and `log.closed` says so."""

    def __init__(self, inner: Any, log: WireLog) -> None:
        self._inner = inner
        self._log = log

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._log.close()
                raise anyio.EndOfStream from None
            passed = self._take(item)
            if passed is not None:
                return passed

    def _take(self, item: Any) -> SessionMessage | None:
        if isinstance(item, RawMessage):
            return self._take_raw(item)
        if isinstance(item, SessionMessage):
            return self._take_typed(item)
        noise = item if isinstance(item, WireNoise) else WireNoise(f"unreadable message ({item})"[:300], str(item))
        return self._spoil(noise)

    def _take_raw(self, raw: RawMessage) -> SessionMessage | None:
        body = raw.body
        if "method" in body and "id" not in body:
            self._log.notified(body, raw.size)
            return None
        if "error" in body and body.get("id") is None and (only := self._log.only()) is not None:
            # What a server says when it could not read the request; it can only be meant for the one that waits.
            body = {**body, "id": number_of(only)}
        try:
            message = jsonrpc_message_adapter.validate_python(body, by_name=False)
        except ValidationError:
            logged = MESSAGE_KEYS.isdisjoint(body)
            noise = WireNoise("a message that is no JSON-RPC response", str(body)[:2000], _key(body), chatter=logged)
            return self._spoil(noise)
        return self._pass_on(SessionMessage(message), body, raw)

    def _take_typed(self, item: SessionMessage) -> SessionMessage | None:
        body = body_of(item.message)
        if isinstance(item.message, JSONRPCNotification):
            self._log.notified(body, 0)
            return None
        return self._pass_on(item, body, RawMessage(body, json_size(body.get("result"))))

    def _pass_on(self, item: SessionMessage, body: Mapping[str, Any], raw: RawMessage) -> SessionMessage | None:
        if "method" in body:
            self._log.requested(body, raw.size)
            return item
        return item if self._log.answered(body, raw) else None

    def _spoil(self, noise: WireNoise) -> SessionMessage | None:
        """Noise that was meant as an answer ends its request at once, instead of at the timeout."""
        identity = self._log.disturbed(noise)
        if identity is None:
            return None
        error = {"code": LOCAL_PARSE_ERROR, "message": noise.reason}
        body = {"jsonrpc": "2.0", "id": number_of(identity), "error": error}
        return SessionMessage(jsonrpc_message_adapter.validate_python(body))

    def __aiter__(self) -> RecordingReader:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> RecordingReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class RecordingWriter:
    """The write side: notes each message of ours, then hands it on (`lines` True: as bytes of one line)."""

    def __init__(self, inner: Any, log: WireLog, lines: bool) -> None:
        self._inner = inner
        self._log = log
        self._lines = lines

    async def send(self, item: SessionMessage, /) -> None:
        self._log.sent(body_of(item.message))
        if self._lines:
            await self._inner.send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        else:
            await self._inner.send(item)

    async def send_body(self, body: dict[str, Any]) -> None:
        """Send a message of our own, over a transport of lines."""
        self._log.sent(body)
        await self._inner.send(to_json(body, inf_nan_mode="null"))

    @property
    def ready(self) -> bool:
        """Whether a line would be written at once."""
        return self._lines and bool(self._inner.ready)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> RecordingWriter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _key(body: Mapping[str, Any]) -> str | None:
    identity = body.get("id")
    if isinstance(identity, float) and identity.is_integer():
        return str(int(identity))
    return None if identity is None or isinstance(identity, bool) else str(identity)
