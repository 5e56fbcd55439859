"""A session with one server: its tools, calls to them, resources, and the comparison with what was pinned.

Place in the pipeline: the only way to a server; the gateway's door holds sessions, the probe makes pins for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from mcpeval_dsl.gateway.catalogue import SessionDrift, tools_drift
from mcpeval_dsl.gateway.connection import Connection, Elicit
from mcpeval_dsl.gateway.handshake import initialize, list_tools, server_info
from mcpeval_dsl.gateway.model import Frame, Launch, Pin, ServerInfo, SessionEnd, ToolDefinition
from mcpeval_dsl.gateway.passing import PASSED
from mcpeval_dsl.gateway.wire import Clock, WireResult, monotonic_clock

LATE_SECONDS = 1.0
LATE_STEP = 0.05
INPUT_ROUNDS = 10


class Session:
    """One live session. `drift` says what differs from the pin, `findings` what is wrong with the server's lists."""

    def __init__(self, connection: Connection, info: ServerInfo, tools: tuple[ToolDefinition, ...]) -> None:
        self.connection = connection
        self.info = info
        self.tools = tools
        self.drift: SessionDrift | None = None
        self.findings: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        return self.connection.alive

    @property
    def frames(self) -> tuple[Frame, ...]:
        """What went over the wire, bounded: the oldest frames go first."""
        return tuple(self.connection.log.frames)

    async def call(self, tool: str, arguments: Mapping[str, Any], timeout: float | None = None) -> WireResult:
        """Call a tool; `timeout` (s) is renewed by progress. Never raises for what the server does."""
        limit = self.connection.launch.call_timeout if timeout is None else timeout
        passed = PASSED.get()
        meta: Any = dict(passed.meta) if passed is not None and passed.meta else None

        def ask(answers: Any, state: str | None) -> types.CallToolRequest:
            return types.CallToolRequest(
                params=types.CallToolRequestParams(
                    name=tool, arguments=dict(arguments), input_responses=answers, request_state=state, _meta=meta
                )
            )

        return await self._with_input(ask, limit)

    async def read_resource(self, uri: str, timeout: float | None = None) -> WireResult:
        """Read a resource; as `call`."""
        limit = self.connection.launch.call_timeout if timeout is None else timeout

        def ask(answers: Any, state: str | None) -> types.ReadResourceRequest:
            return types.ReadResourceRequest(
                params=types.ReadResourceRequestParams(uri=uri, input_responses=answers, request_state=state)
            )

        return await self._with_input(ask, limit)

    async def _with_input(self, ask: Any, timeout: float) -> WireResult:
        """One request, repeated with answers while the server says that it needs input."""
        answers: dict[str, Any] | None = None
        state: str | None = None
        wire = await self.connection.request(ask(None, None), timeout)
        for _ in range(INPUT_ROUNDS):
            if wire.result is None or wire.result.get("resultType") != "input_required":
                return wire
            wanted = wire.result.get("inputRequests")
            answers = {}
            for key, request in wanted.items() if isinstance(wanted, Mapping) else ():
                answer = await self._input(request)
                if answer is None:
                    return WireResult("malformed", message="the server asked for input of an undeclared kind")
                answers[key] = answer
            state = wire.result.get("requestState")
            wire = await self.connection.request(ask(answers, state), timeout)
        return WireResult("malformed", message=f"the server still asked for input after {INPUT_ROUNDS} rounds")

    async def _input(self, request: Any) -> types.ElicitResult | None:
        if not isinstance(request, Mapping) or request.get("method") != "elicitation/create":
            return None
        answer = await self.connection.elicited(request.get("params") or {})
        return types.ElicitResult(action=answer.get("action", "decline"), content=answer.get("content"))

    async def refresh(self, unasked: float | None = None) -> SessionDrift | None:
        """List the tools again when the server said that they changed; what differs from before, if anything.

        `unasked`: list them in any case, and wait so long (s) for the answer. Raises ServerStartError where none comes.
        """
        if unasked is None and not self.connection.log.catalogue_changed:
            return None
        self.connection.log.catalogue_changed = False
        timeout = self.connection.launch.call_timeout if unasked is None else unasked
        tools, self.findings = await list_tools(self.connection, timeout)
        drift = tools_drift(self.tools, tools)
        if drift is not None:
            self.drift, self.tools = drift, tools
        return drift

    async def close(self) -> SessionEnd:
        """End the session and every process it started."""
        return await self.connection.close()


async def open_session(
    launch: Launch, pin: Pin | None = None, *, clock: Clock | None = None, elicit: Elicit | None = None
) -> Session:
    """Connect as the pin says (or probe first). Raises ServerStartError, and nothing else, when that fails."""
    if pin is None:
        from mcpeval_dsl.gateway.probe import probe

        pin = await probe(launch)
    connection = Connection(launch, clock or monotonic_clock(), elicit)
    deadline = time.monotonic() + launch.start_timeout
    await connection.open()
    try:
        state = await adopt_pin(connection, pin, launch.start_timeout)
        remaining = max(0.1, deadline - time.monotonic())
        tools, findings = await list_tools(connection, remaining)
        drift = tools_drift(pin.tools, tools)
        if drift is not None and _may_come_late(state):
            tools, findings, drift = await _settle(connection, pin, tools, findings, drift)
        info = server_info(connection, pin.era, state, tools)
        session = Session(connection, info, tools)
        session.findings = findings
        session.drift = drift or _identity_drift(pin, info)
    except BaseException:
        await connection.close()
        raise
    return session


async def adopt_pin(connection: Connection, pin: Pin, timeout: float) -> Mapping[str, Any]:
    """Negotiate as pinned: nothing on the wire in the era of `server/discover`, one handshake before it."""
    if pin.era == "discover":
        connection.session.adopt(types.DiscoverResult.model_validate(pin.state))
        return pin.state
    return await initialize(connection, timeout, pin.revision)


def _may_come_late(state: Mapping[str, Any]) -> bool:
    """Some servers register tools after the handshake and then say that the list changed."""
    capabilities = state.get("capabilities")
    tools = capabilities.get("tools") if isinstance(capabilities, Mapping) else None
    return isinstance(tools, Mapping) and bool(tools.get("listChanged"))


async def _settle(connection: Connection, pin: Pin, tools: Any, findings: Any, drift: Any) -> Any:
    """List again, on the server's word, until the catalogue is the pinned one or a second has passed."""
    deadline = time.monotonic() + LATE_SECONDS
    while drift is not None and time.monotonic() < deadline and connection.alive:
        await asyncio.sleep(LATE_STEP)
        if connection.log.catalogue_changed:
            connection.log.catalogue_changed = False
            tools, findings = await list_tools(connection, LATE_SECONDS)
            drift = tools_drift(pin.tools, tools)
    return tools, findings, drift


def _identity_drift(pin: Pin, info: ServerInfo) -> SessionDrift | None:
    if info.revision != pin.revision:
        return SessionDrift(("revision",), detail=f"revision {info.revision}, pinned {pin.revision}")
    if info.instructions != pin.info.instructions:
        return SessionDrift(("instructions",), detail="the server's instructions changed")
    return None
