"""What a driver is asked and answers, and what a host hands back: independent of any provider.

A driver speaks to one model API; a host runs one task with a driver and a tool box. Neither knows tasks or graders.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from mcpeval_dsl.gateway.model import ToolDefinition

StopReason = Literal[
    "end_turn", "tool_use", "max_tokens", "refusal", "content_filter", "context_overflow", "pause", "other"
]
Termination = Literal[
    "answered",
    "refused",
    "hard_budget:calls",
    "hard_budget:tokens",
    "hard_budget:cost",
    "hard_budget:time",
    "hard_budget:turns",
    "turn_limit",
    "deadline",
    "max_tokens",
    "host_error",
    "model_api",
    "server_dead",
    "drift",
    "not_started",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's own numbers; `input_tokens` includes cache reads and writes. `cost_usd` None is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call the model asks for, by its wire name. `problem` is set when its arguments could not be read as an object."""

    id: str
    wire_name: str
    arguments: Mapping[str, Any]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model is told about one requested call."""

    id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """`user` has text; `assistant` text and requests (`raw`: the provider's own form, sent back unchanged); `tools` answers."""

    role: Literal["user", "assistant", "tools"]
    text: str = ""
    requests: tuple[ToolRequest, ...] = ()
    answers: tuple[ToolAnswer, ...] = ()
    raw: Any = None


@dataclass(frozen=True, slots=True)
class WireTool:
    """A tool as one provider is given it. `rewrites` are lossy changes of its schema, each a finding about the server."""

    wire_name: str
    server: str
    tool: str
    description: str
    schema: Mapping[str, Any]
    rewrites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    max_tokens: int = 4096
    temperature: float | None = None
    thinking: int | None = None
    parallel_tools: bool = True


@dataclass(frozen=True, slots=True)
class TrialContext:
    """Which trial is asking: lets a scripted or replayed model be deterministic. Never sent to a provider.

    `facts` are values a scripted agent of set skill may use to do the task right (prompt, reference calls, answer).
    """

    trial: str
    task: str
    cell: str
    index: int
    seed: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    system: str
    messages: tuple[Message, ...]
    tools: tuple[WireTool, ...]
    settings: Settings
    context: TrialContext


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. `model` is the provider's own name for what answered; `waited_ms` time spent in retries."""

    message: Message
    stop: StopReason
    usage: Usage = Usage()
    model: str = ""
    waited_ms: float = 0.0
    retries: int = 0
    duration_ms: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Preflight:
    """One look at the model API before any trial; `problem` is a sentence for the user."""

    ok: bool
    problem: str = ""
    model: str = ""
    driver_version: str = ""


class ModelApiError(Exception):
    """The model API failed after the driver's own retries. `kind`: rate, overloaded, timeout, connection, authentication,
    bad_request, schema_refused, malformed, exhausted (a script), unexpected (a script or replay), not_found. `deadline`: given
    up because waiting as long as the provider asked would have passed the deadline."""

    def __init__(
        self,
        kind: str,
        message: str,
        status: int | None = None,
        waited_ms: float = 0.0,
        retries: int = 0,
        deadline: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.waited_ms = waited_ms
        self.retries = retries
        self.deadline = deadline


class Driver(Protocol):
    """One model API. `turn` raises ModelApiError only; cancellation passes through.

    `name` ends with the provider whose tool rules hold: `anthropic`, `litellm:openai`, `script`.
    """

    @property
    def name(self) -> str: ...

    async def preflight(self) -> Preflight: ...

    async def turn(self, request: TurnRequest) -> Turn: ...

    async def finish(self, context: TrialContext) -> str | None:
        """Called once, by the host, when a trial's agent is done. A strict script answers with what it did not use: a problem."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the user to the agent. `shows` are (server, tool) on offer from here on, withheld before.

    `by`: prompt (the task's), script (a scripted turn), simulated (a model), elicit (the task's answer to a question).
    """

    text: str
    by: Literal["prompt", "script", "simulated", "elicit"] = "prompt"
    shows: tuple[tuple[str, str], ...] = ()


class Speaker(Protocol):
    """Who talks to the agent. Both raise SpeakerFailed for trouble that is not the agent's."""

    async def opening(self) -> Said:
        """The first message."""
        ...

    async def reply(self, exchange: Exchange) -> Said | None:
        """The next message, once the agent has answered; None when the conversation is over."""
        ...


class SpeakerFailed(Exception):
    """Whoever plays the user cannot go on. `cause` is the first of a trial's chain of causes."""

    def __init__(self, kind: str, cause: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.cause = cause
        self.message = message


CallTool = Callable[[str, str, Mapping[str, Any], int, str], Awaitable["CallReply"]]


@dataclass(frozen=True, slots=True)
class CallReply:
    """What the gateway tells a host about a call. `stop` asks the host to end (hard budget, dead server, drift)."""

    call: str
    text: str
    is_error: bool
    stop: Termination | None = None


@dataclass(frozen=True, slots=True)
class NativeReply:
    """What a tool of the host's own says. `refused` is why it was not used; `exit` of a program, `status` of an HTTP answer."""

    text: str
    is_error: bool = False
    exit: int | None = None
    status: int | None = None
    refused: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A tool that no server has: the host brings it. `definition.server` is empty. `use` never raises for what it is given."""

    definition: ToolDefinition
    use: Callable[[Mapping[str, Any]], Awaitable[NativeReply]]


@dataclass(frozen=True, slots=True)
class NativeCall:
    """One use of a native tool, kept apart from calls to servers. `text` is what it said before the host's limit.

    Ids are `n1`, `n2`, …; times as in `CallRecord`, from the agent's start.
    """

    id: str
    tool: str
    wire_name: str
    arguments: Mapping[str, Any]
    turn: int
    at_ms: float = 0.0
    duration_ms: float = 0.0
    text: str = ""
    is_error: bool = False
    exit: int | None = None
    status: int | None = None
    refused: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class HostProfile:
    """A host's settings, evaluated. `version` is ours for the loop, the agent's own otherwise.

    `affixes` are prefix and suffix by server, where they depend on it; they go before `tool_prefix` and `tool_suffix`.
    """

    name: str
    version: str
    instructions: bool = True
    tool_prefix: str = ""
    tool_suffix: str = ""
    tool_result_limit: int | None = None
    max_turns: int = 50
    parallel_tools: bool = True
    show_protocol_errors: bool = False
    affixes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tool_search: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """All that a host needs for one trial. `instructions` by server name; `answer_schema` a JSON Schema or None.

    `native` are tools of the host's own, `about` what it tells of them. `conversing`: somebody answers what the agent
    says. `withheld` are (server, tool) among `tools` that are not on offer until the user's turn shows them.

    Limits: `hard_*` None is no limit. `deadline` is monotonic time (s, as time.monotonic); waits for the API extend it.
    """

    prompt: str
    system: str
    tools: tuple[ToolDefinition, ...]
    instructions: Mapping[str, str]
    answer_form: Literal["text", "none", "json", "schema"]
    answer_schema: Mapping[str, Any] | None
    settings: Settings
    context: TrialContext
    hard_tokens: int | None = None
    hard_cost: float | None = None
    hard_turns: int | None = None
    time_limit: float | None = None
    price_input: float | None = None
    price_output: float | None = None
    price_cached: float | None = None
    native: tuple[NativeTool, ...] = ()
    about: str = ""
    per_turn: TurnLimits = field(default_factory=lambda: TurnLimits())
    conversing: bool = False
    withheld: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Hard limits of one turn of the user with all the model turns it leads to; None is no limit. `time` in seconds."""

    tokens: int | None = None
    cost: float | None = None
    turns: int | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One model turn as kept: what it said, what it asked for, what it was told."""

    number: int
    text: str
    requests: tuple[ToolRequest, ...]
    answers: tuple[ToolAnswer, ...]
    stop: StopReason
    usage: Usage
    model: str
    at_ms: float
    duration_ms: float
    waited_ms: float
    retries: int


@dataclass(frozen=True, slots=True)
class Answer:
    """`form`: given, none or refusal. `structured` is the parsed answer where a format was asked for."""

    form: Literal["given", "none", "refusal"]
    text: str = ""
    structured: Any = None
    parsed: bool = False
    reasoning: str = ""
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of a dialogue: what the user said, and what it led to.

    `first` and `last` are numbers of model turns (`last` = `first` - 1: there was none); `shown` are wire names that came
    on offer with it. `agent_ms` is the agent's own time.
    """

    number: int
    said: str
    by: Literal["prompt", "script", "simulated", "elicit"]
    first: int
    last: int
    answer: Answer
    termination: Termination
    usage: Usage = Usage()
    agent_ms: float = 0.0
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApiTrouble:
    """Why the model API or host did not go on. `kind`: model_api, content_filter, context_overflow, schema_refused, script."""

    kind: str
    when: Literal["before_agent", "before_answer", "after_answer"]
    chain: tuple[str, ...]
    message: str = ""


@dataclass(frozen=True, slots=True)
class HostResult:
    answer: Answer
    termination: Termination
    turns: tuple[TurnRecord, ...]
    usage: Usage
    trouble: ApiTrouble | None = None
    waited_ms: float = 0.0
    rewrites: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    system: str = ""
    tool_names: tuple[tuple[str, str, str], ...] = ()
    native_tools: tuple[ToolDefinition, ...] = ()
    native_calls: tuple[NativeCall, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    user_ms: float = 0.0


class Host(Protocol):
    """Runs one trial's agent. Never raises for what model or server do; only cancellation passes through."""

    async def run(
        self, assignment: Assignment, driver: Driver, call: CallTool, speaker: Speaker | None = None
    ) -> HostResult: ...
