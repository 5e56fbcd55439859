"""Frames, tools, calls and their errors: what the gateway sees and keeps, as plain frozen data.

Times: `at_ms` is milliseconds since the trial began (monotonic); `duration_ms` likewise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcpeval_dsl.values.limits import GENEROUS, Limits

ErrorClass = Literal[
    "tool_error",
    "protocol_error",
    "error_in_success",
    "invalid_result",
    "transport_error",
    "timeout",
    "denied",
    "injected",
]
Actor = Literal["agent", "harvest", "setup", "teardown", "reference", "truth", "grader", "probe", "user"]
Era = Literal["discover", "initialize"]
Effect = Literal["readonly", "additive", "destructive", "unknown"]
Severity = Literal["minor", "major", "critical"]
Stop = Literal["hard_budget:calls", "server_dead", "drift"]

LOST = ("crash", "closed", "resource_limit")
"""Kinds of a transport error after which the server is gone."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to reach one server: argv (with cwd and a complete environment) or a URL with headers.

    `wrapper` are the words of the sandbox that go before argv.
    """

    server: str
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    protocols: tuple[str, ...] = ()
    call_timeout: float = 60.0
    start_timeout: float = 30.0
    max_message_bytes: int = 6 * 1024 * 1024
    limits: Limits = GENEROUS
    wrapper: tuple[str, ...] = ()

    @property
    def transport(self) -> Literal["stdio", "streamable-http"]:
        return "streamable-http" if self.url is not None else "stdio"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message on the wire, as parsed JSON; `raw` (bounded) only where it could not be parsed."""

    direction: Literal["sent", "received"]
    at_ms: float
    message: Mapping[str, Any] | None
    raw: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the server listed it. `finding` says why a broken definition cannot be offered (`usable` False).

    `distractor`: no server has it; it only stands in the way.
    """

    server: str
    name: str
    title: str | None = None
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    usable: bool = True
    finding: str | None = None
    sha256: str = ""
    distractor: bool = False


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What was negotiated with one server process or endpoint; `client_capabilities` are what we declared on the wire."""

    server: str
    transport: Literal["stdio", "streamable-http"]
    era: Era
    revision: str
    name: str | None = None
    version: str | None = None
    instructions: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    client_capabilities: Mapping[str, Any] = field(default_factory=dict)
    catalogue_sha256: str = ""
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """What one probe learnt: trials connect the same way without probing again. `state` is the SDK's own result, as JSON."""

    server: str
    era: Era
    revision: str
    state: Mapping[str, Any]
    info: ServerInfo
    tools: tuple[ToolDefinition, ...]
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a server's session ended. `exit_code` is negative for a signal, None where there is no process of ours."""

    exit_code: int | None = None
    stderr_tail: str = ""
    killed: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallError:
    """`kind`: not_found, validation, conflict, rate, expired, denied, crash, closed, resource_limit, internal, business, timeout,
    unknown. `status` and `headers` are those of the HTTP answer, where there was one.
    """

    error_class: ErrorClass
    kind: str
    message: str
    code: int | None = None
    data: Any = None
    cause: Literal["server", "policy", "fault", "fault_after_effect", "harness"] = "server"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Permission:
    """`rule` is the text or place of what decided; `source` says who called the effect what it is.

    `idempotent`: the spec says that the call may be repeated without further effect.
    """

    decision: Literal["allowed", "denied", "simulated"]
    effect: Effect = "unknown"
    source: Literal["spec", "hint", "name", "none"] = "none"
    rule: str = ""
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """`stages` in order of attempted, blocked, executed, effect. `call` is the id of the call behind it."""

    kind: str
    severity: Severity
    stages: tuple[str, ...]
    call: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call through the gateway, with everything later rooms need.

    `text` is what the model is given (before any limit), `structured` the wire's structuredContent, `content` the wire's
    content blocks. `charged`: counts against the call budget. `session` numbers the server process within the trial.
    `result_sha256` is the hash of the whole answer on the wire, where it was so large that less than all of it may be kept.
    `stop` asks the host to end after this call. `fault` is what the task let go wrong here (`timeout`, `slow 3s`),
    `distractor` a call to a tool that only stands in the way. `elicited` are a person's answers to what the server asked in
    its course, `planted` the places in the spec of texts that were put into `text` (and into nothing that was on the wire).
    `meta` are correlation ids that a host outside sent beside the call.
    """

    id: str
    actor: Actor
    server: str
    tool: str
    arguments: Mapping[str, Any]
    wire_name: str = ""
    turn: int | None = None
    at: str = ""
    at_ms: float = 0.0
    duration_ms: float = 0.0
    charged: bool = False
    permission: Permission = Permission("allowed")
    schema_valid: bool | None = None
    schema_errors: tuple[str, ...] = ()
    is_error: bool = False
    error: CallError | None = None
    text: str = ""
    structured: Any = None
    has_structured: bool = False
    content: tuple[Mapping[str, Any], ...] = ()
    result_bytes: int = 0
    result_sha256: str = ""
    truncated: bool = False
    effect_unknown: bool = False
    session: int = 1
    stop: Stop | None = None
    fault: str = ""
    distractor: bool = False
    elicited: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def died(self) -> bool:
        """The server was lost with this call, or before it, and no fault of ours was the reason."""
        error = self.error
        lost = error is not None and error.error_class == "transport_error" and error.kind in LOST
        return lost and error is not None and error.cause == "server"


class ServerStartError(Exception):
    """A server could not be started or connected: never a trial's failure.

    `kind`: command_missing, not_executable, exited, no_answer, refused, unsupported_revision, noise, http_status, malformed,
    endless_list, not_prepared.
    """

    def __init__(
        self, server: str, kind: str, message: str, exit_code: int | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message)
        self.server = server
        self.kind = kind
        self.message = message
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail
