"""Before a session works: the handshakes of both eras, all pages of the tool list, and why a server did not come up.

Place in the pipeline: between a connection and the sessions and probes that use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from mcpeval_dsl.gateway.catalogue import catalogue_digest, read_tools
from mcpeval_dsl.gateway.connection import CAPABILITIES, CLIENT, Connection, describe, exit_words
from mcpeval_dsl.gateway.model import ServerInfo, ServerStartError, ToolDefinition
from mcpeval_dsl.gateway.wire import WireResult

PAGE_CAP = 200


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
        if wire.ending == "rpc_error" and wire.code == METHOD_NOT_FOUND and not listed:
            return (), ("the server does not know tools/list: it has no tools",)
        if wire.result is None:
            raise start_error(connection, wire, "tools/list")
        page = wire.result.get("tools")
        if not isinstance(page, list):
            raise ServerStartError(server, "malformed", "the answer to tools/list has no list of tools")
        listed.extend(page)
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
        client_capabilities=connection.log.declared or {},
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
