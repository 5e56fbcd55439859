"""The record of one trial: everything that happened, typed and published, and (once graded) what it was worth.

Facts come from `execute`; `grading` and `outcome` from `grade` and `score`, and can be made again from the facts.
Times are milliseconds (monotonic) unless they are ISO 8601 texts; money is USD; a value that was not measured is None.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcpeval_dsl.agents.model import Answer, Exchange, NativeCall, Termination, TurnRecord
from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition, Violation
from mcpeval_dsl.values.model import Reading

RECORD_FORMAT = "mcpe-record/1"


OriginWord = Literal[
    "prompt",
    "harvest",
    "system",
    "instructions",
    "catalogue",
    "schema",
    "result",
    "native",
    "program",
    "composed_text",
    "invented",
    "unobserved",
    "none",
]
"""Where an agent could have got a value: from what it was shown."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class AgentIdentity(Frozen):
    """Agent = model × host."""

    host: str
    host_version: str
    model: str = Field(description="name in the spec")
    driver: str
    driver_version: str = ""
    provider_model: str = Field(default="", description="the provider's own name for what answered")


class ServerIdentity(Frozen):
    name: str
    version: str | None = None
    commit: str | None = None
    claimed_version: str | None = Field(default=None, description="what the spec says is under test")
    revision: str = ""
    era: str = ""
    transport: str = ""
    client_capabilities: dict[str, object] = Field(
        default_factory=dict, description="what we declared on the wire: a server's tools may depend on it"
    )
    catalogue_sha256: str = Field(default="", description="as the agent's session began")
    catalogue_after_sha256: str = Field(default="", description="as listed again when the agent had ended")
    sessions: int = 1
    exit_code: int | None = None
    stderr_tail: str = ""


class InfraTrouble(Frozen):
    """What kept a trial from being tested, by cause and time. `chain` is the first cause first."""

    kind: str
    when: Literal["before_agent", "before_answer", "after_answer"]
    chain: tuple[str, ...]
    message: str = ""
    blocked_by_defect: bool = False


class Lead(Frozen):
    """A suspicion that the server is wrong, seen in one trial. `evidence` are call ids: provider first, failing call last."""

    kind: str
    server: str
    tool: str
    call: str
    evidence: tuple[str, ...] = ()
    argument: str | None = Field(default=None, description="JSON pointer of the decisive argument")
    value: str | None = None
    message: str = ""
    strength: Literal["lead", "to_replay"] = Field(
        default="lead", description="`to_replay`: only a replay can make something of it; not counted before"
    )


class ArgumentTrace(Frozen):
    """Where the value of one argument of a failing call came from; made again from the facts at any time.

    Two things that do not depend on each other: what the agent had been shown (`verdict`, `origin`), and whether the server
    itself had asserted the value on the wire (`vouch`).
    """

    call: str
    argument: str = Field(description="JSON pointer into the arguments")
    value: str
    decisive: bool = Field(default=True, description="the error speaks of it, or may")
    verdict: Literal["known", "derived", "invented", "unknown"]
    origin: OriginWord
    source: str = Field(default="", description="id of the call, or name of the harvest, server or tool that showed it")
    form: str = Field(default="exact", description="how it was told: exact, loose, decoded, date, number, part, joined")
    vouch: Literal["strong", "to_replay", "hint", "none"] = "none"
    vouched_by: str | None = Field(default=None, description="id of the call whose result or success asserted it")
    vouched_tool: str = Field(default="", description="the tool of that call")


class PromptSpan(Frozen):
    """A part of the prompt that a template filled; `name` is what stands between its braces. Offsets in characters."""

    start: int
    end: int
    name: str


class Planted(Frozen):
    """What became of one line `inject`. `planted` False: the agent never came to read it, so that it shows nothing."""

    at: str = Field(description="path:line:column of the line")
    place: Literal["result", "file", "slot", "description"]
    planted: bool
    obeyed: bool
    text: str = Field(default="", description="what the agent could read; it is no fact, whatever it says")


class CallCounts(Frozen):
    """Calls of the agent. Error classes are counted apart; denied and injected are never errors of a tool."""

    made: int = 0
    charged: int = 0
    retries: int = Field(default=0, description="calls equal to an earlier failed one")
    tool_errors: int = 0
    protocol_errors: int = 0
    errors_in_success: int = 0
    invalid_results: int = 0
    transport_errors: int = 0
    timeouts: int = 0
    denied: int = 0
    injected: int = 0
    invalid_arguments: int = 0
    served: int = Field(default=0, description="calls that were for a server, distractors apart: 0 is MCP not used")
    native: int = Field(default=0, description="uses of tools that no server has; in no other number here")
    searches: int = Field(default=0, description="searches for tools; in no other number here")


class Timing(Frozen):
    started_at: str = ""
    ended_at: str = ""
    duration_ms: float = 0.0
    agent_ms: float = Field(default=0.0, description="the agent's own time: waits for limits, queues and starts apart")
    waited_ms: float = 0.0
    user_ms: float = Field(default=0.0, description="between turns of a dialogue: the user, and what was read then")
    start_ms: float = Field(default=0.0, description="environment and servers")


class TokenUse(Frozen):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None


class BudgetUse(Frozen):
    """The limits in force and which soft ones were passed."""

    calls_soft: int | None = None
    calls_hard: int | None = None
    turn_calls_soft: int | None = Field(default=None, description="of each turn of the user")
    turn_calls_hard: int | None = None
    turn_calls: tuple[int, ...] = Field(default=(), description="calls charged in each turn of the user")
    over: tuple[str, ...] = Field(default=(), description="of tokens, cost, time, turns; `… per turn`")


class Permissions(Frozen):
    prompts: int = 0
    denials: int = 0
    simulated: int = 0


Ended = Literal["", "script", "says", "state", "turns", "elicit"]
"""Why a user said nothing more: its script was over, it said so, a condition held, it had sent its last message."""


class UserRecord(Frozen):
    """Whoever talked to the agent. What a simulated user used is none of the agent's."""

    ended: Ended = Field(default="", description="empty where the agent stopped before the user did")
    closing: str = Field(default="", description="what the user said last of all, which nobody answered")
    model: str = Field(default="", description="name in the spec of the model that played the user")
    usage: TokenUse = TokenUse()


class OutcomeRecord(Frozen):
    """See `score.outcomes`: one of four, and what stands beside it."""

    outcome: Literal["pass", "wrong_answer", "too_many_calls", "untestable"]
    because: tuple[str, ...] | None = None
    printed: str = ""
    correct: bool | None = None
    success: bool = False
    counts_in_n: bool = True
    re_run: bool = False
    flags: tuple[str, ...] = ()
    layer: str | None = None
    failure_kind: str | None = None
    agent_errors: int = 0


class VerdictRecord(Frozen):
    """`grade.model.Verdict` as published."""

    grader: str
    kind: str
    verdict: Literal["yes", "no", "missing", "moot"]
    deciding: bool
    weight: float
    reads: str
    missing_because: str = ""
    actual: str = ""
    expected: str = ""
    reason: str = ""
    score: float | None = None
    flags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    parts: tuple[VerdictRecord, ...] = ()
    cost_usd: float | None = None
    at: str = Field(default="", description="path:line:column of the expectation")
    turn: int | None = Field(default=None, description="turn of a dialogue that was graded; None: the whole trial")


class TrialRecord(Frozen):
    """One trial. `scope` are the values of the names in force (harvests, lets, variables), for grading without a re-run.

    `evidence` holds what graders need, read at the end of the trial, by `values.sources.source_key`; keys with the prefix
    `before:` were read before the agent, with `reference:` after `reference` in a second fresh environment.
    """

    format: Literal["mcpe-record/1"] = "mcpe-record/1"
    id: str
    key: str
    grade_key: str = ""
    suite: str
    task: str
    row: int | None = None
    row_key: str | None = None
    cell: str
    arm: str | None = None
    trial: int
    seed: int
    split: str = "train"
    tags: tuple[str, ...] = ()
    cluster: str = ""
    kind: str | None = None
    agent: AgentIdentity
    servers: tuple[ServerIdentity, ...] = ()
    repository_commit: str | None = None
    harness_version: str = ""
    sandbox: str = "none"
    policy: str = "deny"
    disposable: bool = True

    prompt: str = ""
    prompt_spans: tuple[PromptSpan, ...] = Field(default=(), description="parts of the prompt filled from harvests")
    system: str = ""
    transcript_complete: bool = Field(
        default=True, description="False where the agent could see what the harness did not: tools of the host's own"
    )
    tools: tuple[ToolDefinition, ...] = ()
    tool_names: tuple[tuple[str, str, str], ...] = Field(default=(), description="(server, tool, wire name)")
    native_tools: tuple[ToolDefinition, ...] = Field(default=(), description="tools of the host's own")
    native_calls: tuple[NativeCall, ...] = Field(default=(), description="their uses, kept apart from `calls`")
    turns: tuple[TurnRecord, ...] = ()
    exchanges: tuple[Exchange, ...] = Field(default=(), description="turns of a dialogue, each with its model turns")
    user: UserRecord | None = None
    calls: tuple[CallRecord, ...] = Field(default=(), description="every call of every actor, in order")
    answer: Answer = Answer("none")
    termination: Termination
    trouble: InfraTrouble | None = None
    counts: CallCounts = CallCounts()
    permissions: Permissions = Permissions()
    usage: TokenUse = TokenUse()
    budget: BudgetUse = BudgetUse()
    timing: Timing = Timing()
    violations: tuple[Violation, ...] = ()
    injections: tuple[Planted, ...] = ()
    leads: tuple[Lead, ...] = ()
    arguments: tuple[ArgumentTrace, ...] = Field(default=(), description="references in the agent's failing calls")
    findings: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    redactions: tuple[str, ...] = Field(default=(), description="where something secret was replaced, never what")
    scope: dict[str, Any] = Field(default_factory=dict)
    harvested: dict[str, str] = Field(default_factory=dict, description="harvest id -> id of the call that gave it")
    evidence: dict[str, Reading] = Field(default_factory=dict)
    model_turns: int = 0
    recovered: bool = False
    transcript_sha256: str = ""

    verdicts: tuple[VerdictRecord, ...] = ()
    outcome: OutcomeRecord | None = None
    not_applicable: bool = False


class HarvestRecord(Frozen):
    """What one harvest node gave, or why it did not."""

    id: str
    key: str
    harvest: str
    status: Literal["ok", "empty", "failed", "blocked"]
    value: Any = None
    because: tuple[str, ...] = ()
    message: str = ""
    calls: tuple[CallRecord, ...] = ()
    leads: tuple[Lead, ...] = ()
    at: str = ""


class ConnectRecord(Frozen):
    """What the probe of one server found, or why it could not be reached."""

    id: str
    key: str
    server: str
    status: Literal["ok", "failed", "drift"]
    era: str = ""
    revision: str = ""
    version: str | None = None
    name: str | None = None
    instructions: str | None = None
    catalogue_sha256: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    findings: tuple[str, ...] = ()
    message: str = ""
    exit_code: int | None = None
    stderr_tail: str = ""
    pin: dict[str, Any] = Field(default_factory=dict)


class Manifest(Frozen):
    """What a run was made with. A different manifest is a different run; `environment` may differ and is only shown."""

    format: Literal["mcpe-manifest/1"] = "mcpe-manifest/1"
    run: str
    plan_key: str
    plan_sha256: str
    harness_version: str
    python: str
    packages: dict[str, str] = Field(default_factory=dict)
    servers: dict[str, str] = Field(default_factory=dict, description="server -> digest of its artefact, or version")
    files: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    arms: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="arm -> native tool or program -> digest of the program, or the API's address"
    )
    sandbox: str = "none"
    environment: dict[str, str] = Field(default_factory=dict)
