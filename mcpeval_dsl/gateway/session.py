"""A session with one server: its tools, calls to them, resources, and the comparison with what was pinned.

Place in the pipeline: the only way to a server; the gateway's door holds sessions, the probe makes pins for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from mcpeval_dsl.gateway.catalogue import SessionDrift, catalogue_digest, read_tools, tools_drift
from mcpeval_dsl.gateway.connection import CAPABILITIES, CLIENT, Connection, Elicit, describe, exit_words
from mcpeval_dsl.gateway.model import Frame, Launch, Pin, ServerInfo, ServerStartError, SessionEnd, ToolDefinition
from mcpeval_dsl.gateway.wire import Clock, WireResult, monotonic_clock

PAGE_CAP = 200
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

        def ask(answers: Any, state: str | None) -> types.CallToolRequest:
            return types.CallToolRequest(
                params=types.CallToolRequestParams(
                    name=tool, arguments=dict(arguments), input_responses=answers, request_state=state
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
                answer = self._input(request)
                if answer is None:
                    return WireResult("malformed", message="the server asked for input of an undeclared kind")
                answers[key] = answer
            state = wire.result.get("requestState")
            wire = await self.connection.request(ask(answers, state), timeout)
        return WireResult("malformed", message=f"the server still asked for input after {INPUT_ROUNDS} rounds")

    def _input(self, request: Any) -> types.ElicitResult | None:
        if not isinstance(request, Mapping) or request.get("method") != "elicitation/create":
            return None
        answer = self.connection.elicited(request.get("params") or {})
        return types.ElicitResult(action=answer.get("action", "decline"), content=answer.get("content"))

    async def refresh(self) -> SessionDrift | None:
        """List the tools again when the server said that they changed; what differs from before, if anything."""
        if not self.connection.log.catalogue_changed:
            return None
        self.connection.log.catalogue_changed = False
        tools, self.findings = await list_tools(self.connection, self.connection.launch.call_timeout)
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


async def initialize(
    connection: Connection, timeout: float, offer: str = LATEST_HANDSHAKE_VERSION
) -> Mapping[str, Any]:
    """The handshake of the older era, offering one revision; the server's answer. Raises ServerStartError."""
    name = connection.launch.server
    parameters = types.InitializeRequestParams(
        protocol_version=offer,
        capabilities=CAPABILITIES,
        client_info=CLIENT,
    )
    wire = await connection.request(types.InitializeRequest(params=parameters), timeout)
    if wire.result is None:
        raise start_error(connection, wire, "initialize")
    answered = wire.result.get("protocolVersion")
    allowed = connection.launch.protocols or HANDSHAKE_PROTOCOL_VERSIONS
    if answered not in HANDSHAKE_PROTOCOL_VERSIONS or answered not in allowed:
        wanted = ", ".join(allowed)
        raise ServerStartError(
            name, "unsupported_revision", f"the server speaks protocol revision {answered!r}; wanted: {wanted}"
        )
    try:
        adopted = types.InitializeResult.model_validate(wire.result)
    except ValidationError:
        adopted = types.InitializeResult(
            protocol_version=answered,
            capabilities=types.ServerCapabilities(),
            server_info=types.Implementation(name=name, version=""),
        )
    connection.session.adopt(adopted)
    await connection.session.send_notification(types.InitializedNotification())
    return dict(wire.result)


async def discover(connection: Connection, timeout: float) -> WireResult:
    """Ask `server/discover` at the newest revision; how that ended. Nothing is adopted."""
    return await connection.ask(
        "server/discover", lambda: connection.session.send_discover(LATEST_MODERN_VERSION), timeout
    )


async def list_tools(connection: Connection, timeout: float) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """All pages of the tool list and what is wrong with them. Raises ServerStartError for lists that never end."""
    server = connection.launch.server
    listed: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGE_CAP):
        parameters = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
        wire = await connection.request(types.ListToolsRequest(params=parameters), timeout)
        if wire.result is None:
            raise start_error(connection, wire, "tools/list")
        page = wire.result.get("tools")
        listed.extend(page if isinstance(page, list) else ())
        following = wire.result.get("nextCursor")
        if not isinstance(following, str) or not following:
            tools = read_tools(server, listed)
            return tools, tuple(f"tool {tool.name}: {tool.finding}" for tool in tools if tool.finding)
        if following in seen:
            raise ServerStartError(
                server, "endless_list", f"tools/list gives the cursor {following[:60]!r} again and again"
            )
        seen.add(following)
        cursor = following
    raise ServerStartError(server, "endless_list", f"tools/list has more than {PAGE_CAP} pages and was cut")


def server_info(
    connection: Connection, era: Any, state: Mapping[str, Any], tools: tuple[ToolDefinition, ...]
) -> ServerInfo:
    """What was negotiated, read leniently from the server's own answer."""
    identity = state.get("serverInfo")
    if era == "discover":
        identity = (state.get("_meta") or {}).get("io.modelcontextprotocol/serverInfo")
    identity = identity if isinstance(identity, Mapping) else {}
    instructions = state.get("instructions")
    instructions = instructions if isinstance(instructions, str) else None
    capabilities = state.get("capabilities")
    return ServerInfo(
        server=connection.launch.server,
        transport=connection.launch.transport,
        era=era,
        revision=connection.session.protocol_version or "",
        name=identity.get("name"),
        version=identity.get("version"),
        instructions=instructions,
        capabilities=dict(capabilities) if isinstance(capabilities, Mapping) else {},
        catalogue_sha256=catalogue_digest(tools, instructions),
        pid=connection.transport.pid,
    )


def start_error(connection: Connection, wire: WireResult, method: str) -> ServerStartError:
    """Why a server did not come up, as one sentence with the end of what it said on standard error."""
    server, log = connection.launch.server, connection.log
    kind, message = "no_answer", f"no answer to {method}: {wire.message}"
    if wire.exit_code is not None:
        kind, message = "exited", f"the server ended {exit_words(wire.exit_code)} before it answered {method}"
    elif wire.ending == "dead" and connection.launch.url is not None:
        cause = connection.failure
        kind, message = (
            "refused",
            f"cannot connect to {connection.launch.url}: {describe(cause) if cause else wire.message}",
        )
    elif wire.ending == "http_error":
        kind, message = "http_status", f"{connection.launch.url} answers {method} with HTTP status {wire.code}"
    elif wire.ending == "rpc_error":
        kind, message = "refused", f"the server refuses {method}: {wire.message} (code {wire.code})"
    elif log.noise:
        kind = "noise"
        message = f"no answer to {method}; instead {log.noise} lines that are no messages, the last: {log.noise_excerpt[:120]!r}"
    elif wire.ending == "malformed":
        kind = "malformed"
    tail = connection.transport.stderr_tail
    last = tail.strip().rpartition("\n")[2][:300]
    return ServerStartError(server, kind, f"{message}: {last}" if last else message, wire.exit_code, tail)


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
