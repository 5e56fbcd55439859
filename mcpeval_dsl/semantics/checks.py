"""Semantics, a part of the typed suite: the lines of a `check` block. Times in seconds."""

from __future__ import annotations

from typing import Literal as Word
from typing import TypeAlias

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import CallStep, Condition, Requirement
from mcpeval_dsl.source import Location


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """`tool NAME present|absent`."""

    tool: str
    present: bool
    at: Location | None = None
    kind: Word["tool_check"] = "tool_check"


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """`schema valid`: every definition in the catalogue can be used."""

    at: Location | None = None
    kind: Word["schema_check"] = "schema_check"


@dataclass(frozen=True, slots=True)
class CapabilityCheck:
    """`capability NAME required|optional|absent`."""

    capability: str
    state: Word["required", "optional", "absent"]
    at: Location | None = None
    kind: Word["capability_check"] = "capability_check"


@dataclass(frozen=True, slots=True)
class ProtocolCheck:
    """`protocol "REVISION" supported|rejected`."""

    revision: str
    state: Word["supported", "rejected"]
    at: Location | None = None
    kind: Word["protocol_check"] = "protocol_check"


@dataclass(frozen=True, slots=True)
class TransportCheck:
    """`transport NAME [rejected]`."""

    transport: Word["stdio", "streamable_http", "sse"]
    rejected: bool = False
    at: Location | None = None
    kind: Word["transport_check"] = "transport_check"


@dataclass(frozen=True, slots=True)
class AuthCheck:
    """`auth none|expired|scope "NAME" { … }`: what the server answers to this identity.

    `requires` are about the answer to the first request of a session, those of a call about its own.
    """

    identity: Word["none", "expired", "scope"]
    scope: str = ""
    requires: tuple[Requirement, ...] = ()
    calls: tuple[CallStep, ...] = ()
    at: Location | None = None
    kind: Word["auth_check"] = "auth_check"


@dataclass(frozen=True, slots=True)
class OriginCheck:
    """`origin "URL" rejected`."""

    origin: str
    at: Location | None = None
    kind: Word["origin_check"] = "origin_check"


@dataclass(frozen=True, slots=True)
class LatencyCheck:
    """`latency PART <= TIME over N calls`: N calls like the one above it in the block; PART is mean, p50, p95 or max."""

    condition: Condition
    calls: int
    at: Location | None = None
    kind: Word["latency_check"] = "latency_check"


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """One scenario of `conformance …`."""

    scenario: str
    at: Location | None = None
    kind: Word["conformance_check"] = "conformance_check"


@dataclass(frozen=True, slots=True)
class OAuthCheck:
    """One rule of `oauth …`."""

    rule: Word["metadata", "pkce", "audience"]
    at: Location | None = None
    kind: Word["oauth_check"] = "oauth_check"


CheckLine: TypeAlias = (
    CallStep
    | ToolCheck
    | SchemaCheck
    | CapabilityCheck
    | ProtocolCheck
    | TransportCheck
    | AuthCheck
    | OriginCheck
    | LatencyCheck
    | ConformanceCheck
    | OAuthCheck
)
