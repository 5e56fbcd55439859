"""Language server, between pygls and the service: messages in, answers out, and what ends the session.

pygls brings the protocol's types and its bookkeeping. Texts are kept by `Service` alone, not by pygls' workspace too.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mcpeval_dsl.language_server.transport import Incoming, Outgoing

TAKEN_BACK = -32800
CONTENT_MODIFIED = -32801
REQUEST_FAILED = -32803
INVALID_REQUEST = -32600
PARSE_ERROR = -32700
BETWEEN_LOOKS = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class Ready:
    """An answer that is JSON already; it is sent as it is."""

    value: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that says why there is none; editors show it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """No answer: what was asked about changed before it was found; the editor asks again where it still wants to know."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The answer comes later. `start` is called with what is to be called with it."""

    start: Callable[[Callable[[Any], None]], None]


class Protocol(LanguageServerProtocol):
    """Leaves texts to our own handlers, and ends the loop instead of the process."""

    ended = False
    asked_to_end = False

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.waiting: set[Any] = set()  # requests by number that are answered later

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """A notification of which the parameters are JSON already."""
        self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    def _send_response(self, msg_id: Any, result: Any = None, error: lsp.ResponseError | None = None) -> None:
        if isinstance(result, Ready) and error is None:
            self._result_types.pop(msg_id, None)
            self._send_data({"jsonrpc": "2.0", "id": msg_id, "result": result.value})
        elif isinstance(result, Waiting) and error is None:
            self._wait(msg_id, result)
        elif isinstance(result, Outdated):
            why = "the text has changed meanwhile"
            super()._send_response(msg_id, error=lsp.ResponseError(code=CONTENT_MODIFIED, message=why))
        elif isinstance(result, Refused):
            super()._send_response(msg_id, error=lsp.ResponseError(code=REQUEST_FAILED, message=result.reason))
        else:
            super()._send_response(msg_id, result, error)

    def _wait(self, number: Any, result: Waiting) -> None:
        self.waiting.add(number)

        def answer(found: Any) -> None:
            if number in self.waiting:
                self.waiting.discard(number)
                self._send_response(number, found)

        result.start(answer)

    def take_back(self, number: Any) -> None:
        """A request is not wanted any more; where it waits, that is its answer."""
        if number in self.waiting:
            self.waiting.discard(number)
            _refuse(self, number, TAKEN_BACK, "taken back")

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Any:
        self.asked_to_end = True
        return (yield from super().lsp_shutdown(*args))

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *args: Any) -> Any:
        self.ended = True


def serve(server: LanguageServer, input_: int, output: int, each_while: Callable[[], None]) -> int:
    """Answer messages until the editor says `exit`, its input ends, or its process is gone. Gives the exit code: 0 where
    it asked to shut down before. `each_while` is called every few seconds."""
    return asyncio.run(_serve(server, input_, output, each_while))


async def _serve(server: LanguageServer, input_: int, output: int, each_while: Callable[[], None]) -> int:
    protocol = server.protocol
    assert isinstance(protocol, Protocol)
    protocol.set_writer(Outgoing(output))
    incoming = Incoming(input_, asyncio.get_running_loop())
    watch = asyncio.create_task(_watch(server, incoming, each_while))
    try:
        while not protocol.ended and (message := await incoming.next()) is not None:
            _handle(protocol, message, incoming)
    except BrokenPipeError:
        protocol.ended = True
    finally:
        watch.cancel()
    return 0 if protocol.asked_to_end else 1


def _handle(protocol: Protocol, message: dict[str, Any] | ValueError, incoming: Incoming) -> None:
    if isinstance(message, ValueError):
        return _refuse(protocol, None, PARSE_ERROR, str(message))
    number = message.get("id") if "method" in message else None
    if number is not None and number in incoming.taken_back:
        incoming.taken_back.discard(number)
        return _refuse(protocol, number, TAKEN_BACK, "taken back")
    if message.get("method") == "$/cancelRequest":
        wanted = message.get("params")
        wanted = wanted.get("id") if isinstance(wanted, dict) else None
        if isinstance(wanted, str | int):
            incoming.taken_back.discard(wanted)
            protocol.take_back(wanted)
        return
    try:
        structured = protocol.structure_message(message)
    except Exception as error:
        return _refuse(protocol, number, INVALID_REQUEST, f"{type(error).__name__} in {message.get('method')!r}")
    protocol.handle_message(structured)


def _refuse(protocol: Protocol, number: Any, code: int, why: str) -> None:
    if number is not None:
        protocol._send_response(number, error=lsp.ResponseError(code=code, message=why))


async def _watch(server: LanguageServer, incoming: Incoming, each_while: Callable[[], None]) -> None:
    """Ends the session when the editor's process is gone without a word."""
    while True:
        await asyncio.sleep(BETWEEN_LOOKS)
        if server.process_id is not None and not _alive(server.process_id):
            server.protocol.ended = True  # type: ignore[attr-defined]
            incoming.end()
            return
        each_while()


def _alive(process: int) -> bool:
    if sys.platform == "win32" or process <= 0:
        return True  # there a signal would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
