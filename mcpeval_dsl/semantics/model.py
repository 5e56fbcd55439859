"""A suite with every name bound, unit converted and default filled: what the compiler's front end hands to `plan`.

Quantities: seconds, bytes, USD, tokens as integers, shares in [0, 1]. Tuples keep the order of the text.
"""

from __future__ import annotations

from typing import Literal as Word

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.checks import CheckLine
from mcpeval_dsl.semantics.dialogues import Dialogue
from mcpeval_dsl.semantics.disturbances import Distraction, Fault
from mcpeval_dsl.semantics.expressions import (
    AnyPattern,
    CallPattern,
    Condition,
    Entry,
    Expression,
    Requirement,
    Source,
    Step,
)
from mcpeval_dsl.semantics.graders import Calibration, Grader
from mcpeval_dsl.semantics.injections import Inject
from mcpeval_dsl.semantics.preparing import Preparation
from mcpeval_dsl.source import Location

Effect = Word["readonly", "additive", "destructive", "idempotent", "confirm"]
Severity = Word["minor", "major", "critical"]
Driver = Word["anthropic", "litellm", "script", "replay", "local"]
TaskKind = Word["single_step", "multi_step", "ambiguous", "long_horizon", "recovery", "distractor", "safety", "write"]
Policy = Word["deny", "simulate", "execute"]


@dataclass(frozen=True, slots=True)
class Header:
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    name: str
    value: Expression
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """One server under test. Exactly one of `argv` and `url`. `timeout` (s) is per call, `start_timeout` (s) for its start.

    `network` are the hosts that its process may reach, as written; `("all",)` means any. `prepare` is done once for a run.
    """

    name: str
    title: str = ""
    argv: tuple[Expression, ...] = ()
    url: Expression | None = None
    headers: tuple[Header, ...] = ()
    oauth: tuple[Entry, ...] = ()
    oauth_flow: str = ""
    protocols: tuple[str, ...] = ()
    version: str | None = None
    catalog: str = ""
    timeout: float = 60.0
    rate: float | None = None
    private: bool = False
    trust_hints: bool = False
    allow_drift: tuple[Word["descriptions", "schemas", "tools"], ...] = ()
    env: tuple[EnvironmentVariable, ...] = ()
    price_per_call: float | None = None
    start_timeout: float = 30.0
    network: tuple[str, ...] = ()
    prepare: Preparation | None = None
    at: Location | None = None

    @property
    def transport(self) -> Word["stdio", "streamable-http"]:
        return "streamable-http" if self.url is not None else "stdio"


@dataclass(frozen=True, slots=True)
class Need:
    """A precondition; not met means `untestable`. `name` for secret, binary, healthy (server), harvest."""

    kind: Word["condition", "secret", "binary", "healthy", "harvest", "tool"]
    name: str = ""
    condition: Condition | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """What a trial starts from. `steps` in order; `scope run` is shared by all trials.

    `network` are the hosts that everything started in its trials may reach, servers included.
    """

    name: str
    steps: tuple[Step, ...] = ()
    env: tuple[EnvironmentVariable, ...] = ()
    teardown: tuple[Step, ...] = ()
    needs: tuple[Need, ...] = ()
    scope: Word["trial", "run"] = "trial"
    lock: str | None = None
    network: tuple[str, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """The spec's word over a server's hints, for one catalogue; later lines do not hide earlier ones."""

    effect: Effect
    patterns: tuple[CallPattern, ...]
    severity: Severity | None = None
    because: str = ""
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything said about the tools of one catalogue (a server's name unless several versions share one)."""

    name: str
    annotations: tuple[Annotation, ...] = ()
    trust_hints: bool = False


@dataclass(frozen=True, slots=True)
class Price:
    """USD per token; None is unknown, which is not free. `cached` is for input read from a cache, else as `input`."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """One driver with its settings. `target` is the provider's model id, or the path of a script or transcript."""

    name: str
    driver: Driver
    target: str
    max_tokens: int = 4096
    temperature: float | None = None
    thinking: int | None = None
    price: Price | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A construct that is checked but that `run` does not execute yet: refused there, at this place, never ignored."""

    construct: str
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """The harness profile. `agent` is `loop` for the in-process host, else the external agent's name."""

    name: str
    agent: str = "loop"
    instructions: Word["include", "omit"] = "include"
    tool_prefix: Expression | None = None
    tool_suffix: Expression | None = None
    tool_result_limit: int | None = None
    max_turns: int = 50
    tool_search: bool = False
    parallel_tools: bool = True
    permissions: Word["ask", "auto", "deny"] = "auto"
    protocol_errors: Word["show", "hide"] = "hide"
    command: tuple[Expression, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Harvest:
    """One source read before the trials that need it, without a model.

    No bindings: the harvest's value is what was read. `id` is the name, prefixed with `task.` inside a task.
    `depends_on` lists the ids of harvests its expressions use; `row` is True when it uses the task's loop variable.
    """

    id: str
    name: str
    source: Source | Expression
    read: Word["json", "text", "python", "yaml", "lines"] | None = None
    bindings: tuple[Entry, ...] = ()
    requires: tuple[Requirement, ...] = ()
    needs: tuple[Need, ...] = ()
    scope: Word["run", "trial"] = "run"
    permit: str | None = None
    environment: str | None = None
    depends_on: tuple[str, ...] = ()
    row: bool = False
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """The same, read after the trial; never usable in a prompt."""

    name: str
    source: Source | Expression
    read: Word["json", "text", "python", "yaml", "lines"] | None = None
    bindings: tuple[Entry, ...] = ()
    requires: tuple[Requirement, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """`soft` decides the outcome, `hard` stops the trial; seconds, tokens, USD or counts.

    `soft_axis` and `hard_axis` are axes of the matrix whose values they are, cell by cell (`parameters.in_cell`).
    """

    soft: float | None = None
    hard: float | None = None
    soft_axis: str = ""
    hard_axis: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    calls: Limit = Limit()
    tokens: Limit = Limit()
    cost: Limit = Limit()
    time: Limit = Limit()
    turns: Limit = Limit()


@dataclass(frozen=True, slots=True)
class Answer:
    """The format asked for. `schema` is a JSON Schema (as an expression) for `json` and `schema`."""

    form: Word["text", "none", "json", "schema"] = "text"
    schema: Expression | None = None


@dataclass(frozen=True, slots=True)
class ToolFilter:
    mode: Word["only", "not"]
    patterns: tuple[AnyPattern, ...]


@dataclass(frozen=True, slots=True)
class Never:
    """`because` is the reason for a severity below critical."""

    pattern: AnyPattern
    severity: Severity = "critical"
    at: Location | None = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    reason: str
    when: Condition | None = None
    until: str | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """`for variable in over where … key … limit N`. `rows` are known at compile time (a table), else None."""

    variable: str
    over: Expression
    rows: tuple[Expression, ...] | None = None
    keys: tuple[str, ...] | None = None
    where: Condition | None = None
    key: Expression | None = None
    limit: int | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    """`when COND { … }`: graders and permissions that count only where the condition holds (cell variables, harvests)."""

    condition: Condition
    graders: tuple[Grader, ...] = ()
    may: tuple[AnyPattern, ...] = ()
    never: tuple[Never, ...] = ()
    expect: tuple[AnyPattern, ...] = ()
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One task with profiles and defaults folded in. `servers` are the catalogues or servers the agent sees.

    `uses` are the ids of the harvests it needs (closure left to the plan); `environment` None means an empty one.
    `answers_for_user`: `elicit` was said, so it also answers the agent's own questions for leave.
    """

    name: str
    title: str = ""
    prompt: Expression | None = None
    system: tuple[Expression, ...] = ()
    answer: Answer = Answer()
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    source: str = ""
    difficulty: str | None = None
    split: Word["train", "heldout"] = "train"
    purpose: Word["capability", "regression"] = "capability"
    kind: TaskKind | None = None
    trials: int = 1
    environment: str | None = None
    servers: tuple[str, ...] = ()
    host_tools: Word["none", "default"] = "default"
    tools: tuple[ToolFilter, ...] = ()
    hide: tuple[AnyPattern, ...] = ()
    budget: Budget = Budget()
    budget_per_turn: Budget = Budget()
    needs: tuple[Need, ...] = ()
    policy: Policy = "deny"
    may: tuple[AnyPattern, ...] = ()
    never: tuple[Never, ...] = ()
    expect: tuple[AnyPattern, ...] = ()
    setup: tuple[Step, ...] = ()
    teardown: tuple[Step, ...] = ()
    undo: tuple[tuple[CallPattern, tuple[Step, ...]], ...] = ()
    reference: tuple[Step, ...] = ()
    harvests: tuple[Harvest, ...] = ()
    truths: tuple[Truth, ...] = ()
    graders: tuple[Grader, ...] = ()
    conditionals: tuple[Conditional, ...] = ()
    simulate: tuple[tuple[CallPattern, Expression], ...] = ()
    canaries: tuple[tuple[str, Expression], ...] = ()
    faults: tuple[Fault, ...] = ()
    distract: tuple[Distraction, ...] = ()
    injections: tuple[Inject, ...] = ()
    elicit: Word["accept", "decline", "cancel"] = "decline"
    elicit_content: Expression | None = None
    answers_for_user: bool = False
    dialogue: Dialogue | None = None
    known_failures: tuple[KnownFailure, ...] = ()
    loop: Loop | None = None
    uses: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of the matrix; `parameters` are the free axes."""

    id: str
    model: str
    host: str
    arm: str | None = None
    server: str | None = None
    parameters: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lift A over B by …` or `compare A over B by …`."""

    kind: Word["lift", "compare"]
    treatment: str
    baseline: str
    by: tuple[str, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class GateRule:
    """`require METRIC OP VALUE [where …]`. `metric` is e.g. `task_success`, `pass^3`, `calls.p95`; `bound` is low or high."""

    metric: str
    operator: Word["==", "!=", "<", "<=", ">", ">="]
    value: float
    unit: str = ""
    bound: Word["low", "high"] | None = None
    arguments: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    baseline: str | None = None
    because: str = ""
    text: str = ""
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    rules: tuple[GateRule, ...] = ()
    declared: bool = False
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The deterministic layer of one server, in one environment. A call without requirements leads up to those with some.

    `uses` are the ids of the harvests its lines name.
    """

    server: str
    at: Location | None = None
    environment: str | None = None
    lines: tuple[CheckLine, ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weight:
    dimension: str
    share: float


@dataclass(frozen=True, slots=True)
class Let:
    name: str
    value: Expression
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class TypedSuite:
    """Everything one spec (with its imports) says. `files` are the texts read, `fixtures` the paths it names."""

    name: str
    title: str
    path: str
    seed: int
    trials: int
    judge: str | None
    policy: Policy
    heldout_share: float
    heldout_by: str | None
    servers: tuple[Server, ...]
    catalogues: tuple[Catalogue, ...]
    environments: tuple[Environment, ...]
    models: tuple[Model, ...]
    hosts: tuple[Host, ...]
    arms: tuple[Arm, ...]
    lets: tuple[Let, ...]
    harvests: tuple[Harvest, ...]
    tasks: tuple[Task, ...]
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    checks: tuple[Check, ...]
    gate: Gate
    weights: tuple[Weight, ...]
    unsupported: tuple[Unsupported, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    files: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    at: Location | None = None
