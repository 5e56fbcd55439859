"""One live connection: the task that owns it, requests over it, and how each of them ended.

Place in the pipeline: between transports and sessions. The SDK wants its scopes entered and left in one task, and a
dying HTTP server cancels that task; so an owner task holds them, and requests run in the tasks of those who ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

import mcp.client.session
import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

from mcpeval_dsl.gateway.direct import DirectRequests
from mcpeval_dsl.gateway.http import HttpTransport, made_by_sdk
from mcpeval_dsl.gateway.losses import words_of_loss
from mcpeval_dsl.gateway.model import Launch, ServerStartError, SessionEnd
from mcpeval_dsl.gateway.passing import PASSED
from mcpeval_dsl.gateway.recording import RecordingReader, RecordingWriter
from mcpeval_dsl.gateway.stdio import StdioTransport
from mcpeval_dsl.gateway.ticket import CURRENT, Ticket
from mcpeval_dsl.gateway.wire import Clock, WireLog, WireResult
from mcpeval_dsl.values.limits import limit_reached

# The SDK's own bound on the first question is a constant of ten seconds; the probe has its own, shorter or longer.
mcp.client.session.DISCOVER_TIMEOUT_SECONDS = 600.0

PROGRESS_FACTOR = 10
"""Progress keeps a request alive, but never beyond this many times its timeout."""

DIRECT = ("tools/call", "resources/read")
CANCEL_SECONDS = 1.0
DEATH_SECONDS = 0.1
CLOSE_SECONDS = 5.0
CLIENT = types.Implementation(name="mcpe", version=version("mcpeval_dsl"))
CAPABILITIES = types.ClientCapabilities(
    elicitation=types.ElicitationCapability(
        form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
    )
)
"""The same for every server and trial: what a server offers may depend on it. The SDK says so itself where it speaks."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)

Elicit = Callable[[Mapping[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
"""From the parameters of a server's question to an answer `{"action": …, "content": …}`, at once or when somebody gave it."""

PATIENCE_SECONDS = 1.0
"""While a person thinks, a call is kept alive so often."""


def silence_sdk() -> None:
    """The SDK logs a traceback for each bad line of a server; what matters is in the wire log."""
    for name in ("client", "mcp", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class Connection:
    """A transport with the SDK's session over it. `session` is there once `open` returned."""

    def __init__(self, launch: Launch, clock: Clock, elicit: Elicit | None = None) -> None:
        silence_sdk()
        self.launch = launch
        self.log = WireLog(clock)
        self.transport: StdioTransport | HttpTransport = (
            StdioTransport(launch) if launch.url is None else HttpTransport(launch)
        )
        self.failure: BaseException | None = None
        self._elicit = elicit
        self.lost = False
        self._closing = asyncio.Event()
        self._direct: DirectRequests | None = None
        self._session: ClientSession | None = None
        self._owner: asyncio.Task[None] | None = None

    @property
    def session(self) -> ClientSession:
        if self._session is None:
            raise RuntimeError("the connection is not open")
        return self._session

    @property
    def alive(self) -> bool:
        """Whether it takes another request. One over HTTP that lost an answer does until the others are through."""
        lost = self.lost and not self.log.pending
        return self._owner is not None and not self._owner.done() and not self.log.closed and not lost

    async def open(self) -> None:
        """Start the transport. Raises ServerStartError; no message has been exchanged yet."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(ready), name=f"session of {self.launch.server}")
        try:
            await asyncio.shield(ready)
        except asyncio.CancelledError:
            ready.cancel()
            await self.close()
            raise

    async def _own(self, ready: asyncio.Future[None]) -> None:
        stdio = isinstance(self.transport, StdioTransport)
        try:
            async with self.transport.run() as (read, write):
                reader, writer = RecordingReader(read, self.log), RecordingWriter(write, self.log, lines=stdio)
                async with ClientSession(
                    reader,
                    writer,
                    elicitation_callback=self._answer_elicitation,
                    client_info=CLIENT,
                ) as session:
                    self._session = session
                    self._direct = DirectRequests(writer, self.log) if stdio else None
                    if not ready.done():
                        ready.set_result(None)
                    await self._closing.wait()
                    # The SDK closes the server's input now: what it started must be known before it is gone.
                    self.transport.remember_family()
        except BaseException as problem:
            # The SDK cancels this very task when an HTTP server dies: only `close` can tell our own end from that.
            self.failure = first_cause(problem)
            if not ready.done():
                ready.set_exception(self._start_error(self.failure))
            if isinstance(problem, KeyboardInterrupt | SystemExit):
                raise
        finally:
            self.log.close()

    def _start_error(self, problem: BaseException) -> ServerStartError:
        if isinstance(problem, ServerStartError):
            return problem
        return ServerStartError(self.launch.server, "refused", f"cannot connect: {describe(problem)}")

    async def _answer_elicitation(self, context: ClientRequestContext, params: Any) -> types.ElicitResult:
        answer = await self.elicited(params.model_dump(mode="json", by_alias=True))
        return types.ElicitResult(action=answer.get("action", "decline"), content=answer.get("content"))

    async def elicited(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a person answers to the server's question: declined unless the trial says otherwise.

        A call in whose course a person thinks does not time out meanwhile.
        """
        said = {"action": "decline"} if self._elicit is None else self._elicit(params)
        if not inspect.isawaitable(said):
            return said
        thinking = asyncio.ensure_future(said)
        try:
            while not (await asyncio.wait({thinking}, timeout=PATIENCE_SECONDS))[0]:
                for ticket in self.log.pending.values():
                    ticket.touched = time.monotonic()
            return thinking.result()
        finally:
            thinking.cancel()

    async def request(self, request: Any, timeout: float) -> WireResult:
        """Send one request; how it ended. Never raises for what a server does; cancelling it cancels the request."""
        if self._direct is not None and self._direct.ready and request.method in DIRECT:
            return await self._ask_directly(self._direct, request, timeout)
        return await self.ask(
            request.method,
            lambda: self.session.send_request(request, _ANY, progress_callback=_keep_alive),
            timeout,
        )

    async def ask(self, method: str, send: Callable[[], Awaitable[Any]], timeout: float) -> WireResult:
        """As `request`, for whatever way of the SDK to send one."""
        passed = PASSED.get()
        ticket = Ticket(method, progress=passed.progress if passed is not None else None)
        begun = time.monotonic()
        ticket.touched = begun
        CURRENT.set(ticket)
        asking = asyncio.create_task(_awaited(send))
        ticket.give_up = asking.cancel
        CURRENT.set(None)
        timed_out, problem = False, None
        try:
            timed_out = not await self._until_answered(asking, ticket, begun, timeout)
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking}, timeout=CANCEL_SECONDS)
            if ticket.request_id is not None:
                self.log.pending.pop(ticket.request_id, None)
            if asking.done() and not asking.cancelled():
                problem = asking.exception()
        return await self._ended(ticket, problem, timed_out, (time.monotonic() - begun) * 1000.0, timeout)

    async def _ask_directly(self, direct: DirectRequests, request: Any, timeout: float) -> WireResult:
        passed = PASSED.get()
        ticket = Ticket(request.method, progress=passed.progress if passed is not None else None)
        begun = ticket.touched = time.monotonic()
        parameters = request.params.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            answered = await direct.ask(ticket, parameters, timeout, PROGRESS_FACTOR * timeout)
        finally:
            if ticket.request_id is not None:
                self.log.pending.pop(ticket.request_id, None)
        return await self._ended(ticket, None, not answered, (time.monotonic() - begun) * 1000.0, timeout)

    async def _until_answered(self, asking: asyncio.Task[None], ticket: Ticket, begun: float, timeout: float) -> bool:
        """False when the deadline passed; progress moves it."""
        while True:
            deadline = min(ticket.touched + timeout, begun + PROGRESS_FACTOR * timeout)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            done, _ = await asyncio.wait({asking}, timeout=remaining)
            if done:
                return True

    async def _ended(
        self, ticket: Ticket, problem: BaseException | None, timed_out: bool, took: float, timeout: float
    ) -> WireResult:
        common: dict[str, Any] = {"duration_ms": took, "size": ticket.size, "sha256": ticket.sha256, "cut": ticket.cut}
        common |= {"status": ticket.status, "headers": ticket.headers}
        if ticket.response is not None:
            return self._from_response(ticket, ticket.response, common)
        if ticket.broken is not None:
            return WireResult("malformed", message=ticket.broken, raw=ticket.raw, **common)
        if timed_out and self.alive:
            noise = f"; {self.log.noise} lines on its output were no messages" if self.log.noise else ""
            message = f"no answer within {timeout:g} s{noise}"
            return WireResult("timeout", message=message, cancelled=ticket.cancel_sent, **common)
        if ticket.status is not None and ticket.status >= 400:
            return WireResult("http_error", code=ticket.status, message=f"HTTP status {ticket.status}", **common)
        if isinstance(problem, MCPError) and self.alive and ticket.status is not None:
            # An answer came over HTTP, but no message was in it; the SDK's text says what was.
            return WireResult("malformed", code=problem.code, message=problem.message, **common)
        return await self._died(common, problem)

    def _from_response(self, ticket: Ticket, response: Mapping[str, Any], common: dict[str, Any]) -> WireResult:
        error = response.get("error")
        if isinstance(error, Mapping):
            message = str(error.get("message", ""))
            own = made_by_sdk(error, ticket) if self.launch.url is not None else None
            if own is not None:
                ending, words = own
                self.lost = self.lost or words_of_loss(message) is not None
                return WireResult(ending, code=ticket.status, message=words, **common)
            code = error.get("code")
            number = code if isinstance(code, int) else None
            return WireResult("rpc_error", code=number, message=message, data=error.get("data"), **common)
        result = response.get("result")
        if isinstance(result, Mapping):
            return WireResult("result", result=result, **common)
        return WireResult("malformed", message="an answer with neither a result nor an error", **common)

    async def _died(self, common: dict[str, Any], problem: BaseException | None) -> WireResult:
        await self._settle()
        code = self.transport.exit_code
        limit = limit_reached(code, self.transport.stderr_tail, self.launch.limits) if code is not None else None
        if code is not None:
            message = f"the server ended {exit_words(code)}" + (f" at {limit}" if limit is not None else "")
        elif isinstance(self.transport, StdioTransport):
            message = "the server closed its output"
        else:
            cause = self.failure if self.failure is not None else problem
            message = "the connection was lost" + (f": {describe(cause)}" if cause is not None else "")
        tail = self.transport.stderr_tail
        return WireResult("dead", message=message, exit_code=code, stderr_tail=tail, limit=limit, **common)

    async def _settle(self) -> None:
        """Wait a moment for what tells why: the exit code, or the failure that ends the owner of an HTTP connection."""
        await self.transport.settle()
        if self.launch.url is not None and self._owner is not None:
            await asyncio.wait({self._owner}, timeout=DEATH_SECONDS)

    async def close(self, reason: str = "closed") -> SessionEnd:
        """End the session and everything it started. Safe to call twice, and while cancelled."""
        self._closing.set()
        owner = self._owner
        if owner is not None and not owner.done():
            done, _ = await asyncio.wait({owner}, timeout=CLOSE_SECONDS)
            if not done:
                owner.cancel()
                await asyncio.wait({owner}, timeout=CLOSE_SECONDS)
        return self.transport.end(reason)


async def _awaited(send: Callable[[], Awaitable[Any]]) -> None:
    await send()


async def _keep_alive(progress: float, total: float | None, message: str | None) -> None:
    """Asks the SDK to send a progress token; the wire log itself reads the notifications."""


def first_cause(problem: BaseException) -> BaseException:
    """The first exception that is no group."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def describe(problem: BaseException) -> str:
    """An exception in a few words for people."""
    with contextlib.suppress(Exception):
        text = str(problem).strip()
        if text:
            return text[:300]
    return type(problem).__name__


def exit_words(code: int) -> str:
    """`with exit code 3`, `on signal 9`."""
    return f"with exit code {code}" if code >= 0 else f"on signal {-code}"
