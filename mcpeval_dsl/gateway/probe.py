"""The first contact with a server: which era and revision it speaks, and its catalogue, pinned for every later session.

Place in the pipeline: once for each server, before any trial, so that no trial pays for negotiation and the revision
does not depend on how busy the machine is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcpeval_dsl.gateway.catalogue import tools_drift
from mcpeval_dsl.gateway.connection import Connection
from mcpeval_dsl.gateway.handshake import discover, initialize, list_tools, server_info, start_error
from mcpeval_dsl.gateway.model import Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.wire import WireResult, monotonic_clock

DISCOVER_SECONDS = 3.0
SETTLE_SECONDS = 0.3
SLOW_START = 0.5
"""A server that needs this share of the probe's time for the handshake may have been only slow to answer the probe."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why `server/discover` led to no pin; `silent` where the server may only have been slow."""

    words: str
    silent: bool = False


async def probe(launch: Launch, *, discover_seconds: float = DISCOVER_SECONDS) -> Pin:
    """Find out how to speak to a server. Raises ServerStartError, and nothing else, when it cannot be reached."""
    modern = [revision for revision in MODERN_PROTOCOL_VERSIONS if _allowed(launch, revision)]
    older = [revision for revision in HANDSHAKE_PROTOCOL_VERSIONS if _allowed(launch, revision)]
    if not modern:
        if not older:
            wanted = ", ".join(launch.protocols)
            raise ServerStartError(launch.server, "unsupported_revision", f"no known protocol revision among: {wanted}")
        return await _older_era(launch, older, ())
    patience = discover_seconds if older else launch.start_timeout
    attempt = await _first_contact(launch, patience, bool(older))
    if isinstance(attempt, Pin):
        return attempt
    if not older:
        raise ServerStartError(
            launch.server, "unsupported_revision", f"the server does not speak {modern[-1]}: {attempt.words}"
        )
    begun = time.monotonic()
    pin = await _older_era(launch, older, (attempt.words,))
    took = time.monotonic() - begun
    if attempt.silent and took > SLOW_START * discover_seconds:
        # The era must not depend on load: ask once more, giving the time that the server was seen to need.
        again = await _first_contact(launch, 2 * took + discover_seconds, False)
        if isinstance(again, Pin):
            return again
    return pin


def _allowed(launch: Launch, revision: str) -> bool:
    return not launch.protocols or revision in launch.protocols


async def _first_contact(launch: Launch, seconds: float, fall_back: bool) -> Pin | Refusal:
    """Ask `server/discover`; a pin, or why a new process must be asked in the older way."""
    connection = Connection(launch, monotonic_clock())
    await connection.open()
    try:
        wire = await discover(connection, min(seconds, launch.start_timeout))
        state = _modern_state(wire)
        if state is not None:
            connection.session.adopt(state)
            assert wire.result is not None
            return await _pin(connection, "discover", wire.result, ())
        if wire.ending == "dead":
            if launch.url is not None or not fall_back:
                return Refusal(start_error(connection, wire, "server/discover").message)
            return Refusal(
                f"the server ended when asked server/discover ({wire.message}); connected with initialize instead"
            )
        if wire.ending == "timeout":
            words = f"the server did not answer server/discover within {seconds:g} s; connected with initialize instead"
            return Refusal(words, silent=True)
        if not fall_back:
            return Refusal(wire.message or "it does not know server/discover")
        try:
            result = await initialize(connection, launch.start_timeout, _offer(launch))
            return await _pin(connection, "initialize", result, ())
        except ServerStartError as problem:
            if problem.kind in ("unsupported_revision", "http_status"):
                raise
            return Refusal(
                f"after server/discover the server did not accept initialize ({problem.message}); tried afresh"
            )
    finally:
        await connection.close()


def _modern_state(wire: WireResult) -> types.DiscoverResult | None:
    if wire.result is None:
        return None
    try:
        state = types.DiscoverResult.model_validate(wire.result)
    except ValidationError:
        return None
    return state if any(revision in state.supported_versions for revision in MODERN_PROTOCOL_VERSIONS) else None


def _offer(launch: Launch) -> str:
    offers = [revision for revision in HANDSHAKE_PROTOCOL_VERSIONS if _allowed(launch, revision)]
    return offers[-1] if offers else LATEST_HANDSHAKE_VERSION


async def _older_era(launch: Launch, older: list[str], findings: tuple[str, ...]) -> Pin:
    """A new process, asked with `initialize` only."""
    connection = Connection(launch, monotonic_clock())
    await connection.open()
    try:
        result = await initialize(connection, launch.start_timeout, older[-1])
        return await _pin(connection, "initialize", result, findings)
    finally:
        await connection.close()


async def _pin(
    connection: Connection, era: Literal["discover", "initialize"], state: Mapping[str, Any], findings: tuple[str, ...]
) -> Pin:
    launch = connection.launch
    tools, problems = await list_tools(connection, launch.start_timeout)
    capabilities = state.get("capabilities")
    said = capabilities.get("tools") if isinstance(capabilities, Mapping) else None
    if isinstance(said, Mapping) and said.get("listChanged"):
        await _wait_for_change(connection)
    if connection.log.catalogue_changed:
        connection.log.catalogue_changed = False
        later, problems = await list_tools(connection, launch.start_timeout)
        drift = tools_drift(tools, later)
        if drift is not None:
            findings += (f"the tool list changed just after the start ({drift.detail})",)
        tools = later
    if connection.log.noise:
        findings += (f"{connection.log.noise} lines on standard output are no messages",)
    info = server_info(connection, era, state, tools)
    return Pin(launch.server, era, info.revision, dict(state), info, tools, findings + problems)


async def _wait_for_change(connection: Connection) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while not connection.log.catalogue_changed and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
