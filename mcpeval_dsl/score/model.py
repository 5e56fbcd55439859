"""Score: the scorecard as published. Deterministic: it depends on the plan and the records alone, never on the order in
which trials ended, on how often a run was interrupted, or on measured times (those are in `timings`).

Shares are in [0, 1]; a value that was not measured is null; `n_…` count testable trials unless said otherwise.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcpeval_dsl.records.checks import CheckState
from mcpeval_dsl.records.model import Frozen
from mcpeval_dsl.score.judge_model import JudgeScore

SCORECARD_FORMAT = "mcpe-scorecard/1"
GateWord = Literal["PASS", "FAIL", "NOT DECIDED"]
ComparisonWord = Literal["better", "worse", "no difference shown", "insufficient data"]


class Rate(Frozen):
    """A share over tasks: each task weighs the same. `low` and `high` are the interval, null with one cluster."""

    value: float
    low: float | None = None
    high: float | None = None
    tasks: int
    trials: int
    clusters: int
    method: str = Field(description="how the interval was made, and what it is about")
    error: float | None = Field(default=None, description="standard error, clustered")
    naive_error: float | None = Field(default=None, description="as if all trials were independent")
    icc: float | None = None
    design_effect: float | None = None
    if_missing_failed: float | None = Field(default=None, description="every untestable trial counted as failed")
    if_missing_passed: float | None = Field(default=None, description="every untestable trial counted as passed")


class AtK(Frozen):
    """pass@k or pass^k; `tasks` had n ≥ k."""

    k: int
    value: float | None
    low: float | None = None
    high: float | None = None
    tasks: int = 0


class Measured(Frozen):
    """A measure per trial, averaged over trials, then over tasks. `trials` and `tasks` are those it could be measured in.

    `low` and `high` are the interval of a behaviour; null for measures of tools, and with one cluster of tasks.
    """

    value: float
    trials: int
    tasks: int
    low: float | None = None
    high: float | None = None


class Spread(Frozen):
    """`tail` is the 95th percentile for n ≥ 20, the maximum below."""

    n: int
    median: float
    tail: float
    tail_name: str
    maximum: float
    total: float


class Counts(Frozen):
    """`passed` includes `unsafe`; `not_run` are planned trials without a record.

    `repeats` are trials that only played another one back (a replayed model, a cache): they are in no other count but `planned`.
    """

    planned: int = 0
    passed: int = 0
    unsafe: int = 0
    wrong_answer: int = 0
    too_many_calls: int = 0
    untestable: int = 0
    not_run: int = 0
    repeats: int = 0


class Errors(Frozen):
    """Calls of the agent by class of error; denied and injected ones are no errors of a tool."""

    calls: int = 0
    tool_errors: int = 0
    protocol_errors: int = 0
    errors_in_success: int = 0
    invalid_results: int = 0
    transport_errors: int = 0
    timeouts: int = 0
    denied: int = 0
    injected: int = 0
    invalid_arguments: int = 0


class Dimension(Frozen):
    name: str
    weight: float
    value: float | None


class Total(Frozen):
    """`covered` is the share of weight that was measured: below 1 the total is partial and compares with no full one."""

    value: float | None
    covered: float
    dimensions: tuple[Dimension, ...]


class Delta(Frozen):
    """A difference, treatment − baseline, paired by task: the word and all that it rests on.

    Shares and their differences in [−1, 1]. `low` and `high` are MOVER's interval, `t_low` and `t_high` Student's beside it.
    `p` is the two-sided sign-flip test over clusters; `smallest_p` is what so few clusters could show at best.
    """

    value: float
    low: float | None = None
    high: float | None = None
    t_low: float | None = None
    t_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = Field(default=None, description="after correction for the number of questions asked")
    adjusted_by: Literal["", "Holm", "Benjamini–Hochberg"] = Field(
        default="", description="Holm for what a gate asks, Benjamini–Hochberg for the rest"
    )
    smallest_p: float | None = None
    detectable: float | None = Field(
        default=None, description="the smallest difference that would be seen in 80 of 100 such runs"
    )
    detectable_from: Literal["", "observed", "planning"] = Field(
        default="", description="whose variances say so: this run's, or assumed ones where all pairs tie"
    )
    tasks: int = Field(description="tasks that both sides could be tested in")
    clusters: int = 0
    treatment_trials: int = 0
    baseline_trials: int = 0
    word: ComparisonWord = "insufficient data"


class Overhead(Frozen):
    """Median with the treatment − median with the baseline; the interval is a paired bootstrap over tasks.

    `value` is null, with a reason, where the quantity is not known of every trial.
    """

    what: Literal["cost_usd", "calls", "tokens", "agent_ms"]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    treatment: Spread | None = None
    baseline: Spread | None = None
    tasks: int = 0
    reason: str = ""


class ArmScore(Frozen):
    """What one side of a comparison had and did in one cell. `tools` are the native ones: what an agent has besides MCP."""

    member: str
    cell: str
    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    trials: int = 0
    called_server: int = Field(default=0, description="testable trials with at least one call to an MCP server")
    mcp_use: float | None = Field(default=None, description="called_server / trials")


class ComparisonRow(Frozen):
    """One pair of cells that differ in the compared member only, over one group of tasks; never pooled over agents.

    `at` are the coordinates that both cells share; `group` is a tag, empty for all tasks of the split.
    """

    treatment_cell: str
    baseline_cell: str
    at: dict[str, str] = Field(default_factory=dict)
    agent: str = Field(default="", description="what both cells share, named as a cell is")
    split: str = "train"
    group: str = ""
    treatment: Rate | None = None
    baseline: Rate | None = None
    difference: Delta | None = Field(default=None, description="null where no task could be tested on both sides")
    overheads: tuple[Overhead, ...] = Field(default=(), description="calls, tokens, cost; times are in the timings")
    only_treatment: tuple[str, ...] = Field(default=(), description="tasks that only this side could be tested in")
    only_baseline: tuple[str, ...] = ()
    inconclusive: bool = False


class ComparisonScore(Frozen):
    """`lift A over B` (of `correct`, budgets apart) or `compare A over B` (of `success`), at its line of the spec."""

    kind: Literal["lift", "compare"]
    treatment: str
    baseline: str
    measure: Literal["correct", "success"]
    by: tuple[str, ...] = ()
    at: str = ""
    arms: tuple[ArmScore, ...] = ()
    rows: tuple[ComparisonRow, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what to know before believing the number")


class GroupScore(Frozen):
    """One entry of the matrix: a group of tasks (row) in a cell (column). `group` is a tag, empty for all tasks.

    `difference` is against `reference`, the first cell of the plan; null there.
    """

    group: str
    cell: str
    split: str = "train"
    tasks: int
    trials: int = Field(description="testable")
    counts: Counts
    success: Rate | None = None
    calls: Spread | None = None
    cost_usd: Spread | None = None
    inconclusive: bool = False
    reference: str = ""
    difference: Delta | None = None


class CellScore(Frozen):
    """One cell of the matrix in one split: never pooled over agents or splits."""

    cell: str
    split: str
    model: str
    host: str
    arm: str | None = None
    server: str | None = None
    counts: Counts
    inconclusive: bool = Field(description="more than a tenth of the planned trials could not be tested")
    success: Rate | None
    correct: Rate | None
    on_missing_verdicts: int = Field(default=0, description="passes that rest on a missing verdict")
    pass_at: tuple[AtK, ...] = ()
    pass_hat: tuple[AtK, ...] = ()
    tools: dict[str, Measured | None] = Field(default_factory=dict)
    behaviours: dict[str, Measured] = Field(
        default_factory=dict, description="how often what `expect` names was seen: question, confirmation, recovery"
    )
    calls: Spread | None = None
    errors: Errors = Errors()
    tokens: Spread | None = None
    cost_usd: Spread | None = None
    grading_cost_usd: float | None = Field(default=None, description="what judges cost; null where none was asked")
    user_cost_usd: float | None = Field(
        default=None, description="what models that played the user cost; null where none did"
    )
    user_price_unknown: bool = Field(default=False, description="a model played the user whose price is not known")
    saturated: bool = Field(
        default=False,
        description="every trial of every task passed, and not all are to guard what works (`purpose regression`)",
    )
    total: Total


class TaskRow(Frozen):
    """One task instance in one cell. `low` and `high`: Clopper–Pearson over its own trials."""

    task: str
    instance: str
    cell: str
    split: str
    tags: tuple[str, ...] = ()
    cluster: str
    planned: int
    testable: int
    passed: int
    untestable: int
    low: float | None = None
    high: float | None = None
    outcomes: tuple[str, ...] = Field(default=(), description="as printed, in order of the trial's number")
    known_failure: str | None = None
    stale: bool = False


class ViolationRow(Frozen):
    kind: str
    severity: str
    stages: tuple[str, ...]
    tool: str
    trials: int
    times: int
    first_trial: str


class Safety(Frozen):
    """All trials in which a model had at least one turn count, untestable and superseded ones too."""

    exposed_trials: int
    exposed_tasks: int
    trials_with_critical: int
    tasks_with_critical: int
    at_most_by_trials: float | None = Field(
        description="95 % upper bound of the share of trials with a critical violation"
    )
    at_most_by_tasks: float | None = Field(description="the same if all trials of a task are alike")
    critical: int
    major: int
    minor: int
    unchecked_trials: int = Field(default=0, description="trials in which a safety check could not run")
    unconfined_trials: int = Field(
        default=0,
        description="trials without a sandbox: there, writes outside of the trial's folder are not compared",
    )
    injections: int = Field(default=0, description="planted instructions that an agent came to read")
    injections_resisted: int = Field(default=0, description="those of them that it did not obey")
    violations: tuple[ViolationRow, ...] = ()
    verdict: GateWord


class EvidenceCall(Frozen):
    id: str
    actor: str
    tool: str
    arguments: str
    result: str


class LeadRow(Frozen):
    """A suspicion, seen in `trials` trials; a defect only after a replay.

    `status` is empty until then; `failed` of `counted` attempts in fresh environments failed as the trial's call did.
    """

    id: str = ""
    kind: str
    server: str
    tool: str
    message: str
    argument: str | None = None
    value: str | None = None
    trials: int
    first_trial: str
    strength: Literal["lead", "to_replay"] = Field(
        default="lead", description="`to_replay`: not counted unless a replay confirms it"
    )
    evidence: tuple[EvidenceCall, ...] = ()
    status: Literal["", "confirmed", "flaky", "eventual", "not_reproduced", "resource_limit", "unconfirmed"] = ""
    failed: int = 0
    counted: int = 0
    low: float | None = None
    high: float | None = None
    reason: str = ""
    reproduction: str = Field(default="", description="file, beside the ledger, of a check that shows the defect")


class FailureRow(Frozen):
    """What a grader did not find, at the line that expects it; the same for `trials` trials of one task in one cell."""

    task: str
    instance: str
    cell: str
    outcome: str
    at: str
    grader: str
    kind: str
    actual: str
    expected: str
    reason: str = ""
    failure_kind: str | None = None
    layer: str | None = None
    trials: int
    first_trial: str
    every_call_succeeded: bool = False
    known_failure: str | None = None


class UntestableRow(Frozen):
    because: tuple[str, ...]
    trials: int
    first_trial: str
    worth_a_rerun: bool
    infrastructure: bool


class FindingEvidence(Frozen):
    """One trial that shows a finding, and the calls of its transcript to look at."""

    trial: str
    calls: tuple[str, ...] = ()


class FindingRow(Frozen):
    """Seen in one trial it is a lead, in several a finding; of a server (`trials` 0) it is one at once.

    `kind` is one of a fixed set, for programs; `change` is what to edit; `evidence` are the first trials that show it.
    """

    text: str
    trials: int = 0
    first_trial: str = ""
    kind: str = ""
    strength: Literal["lead", "finding"] = "finding"
    change: str = ""
    evidence: tuple[FindingEvidence, ...] = ()


class RuleResult(Frozen):
    """One `require` of the gate in the segment where it stands worst. `measured` is null for times (see `timings`)."""

    text: str
    at: str
    word: GateWord
    measured: float | None = None
    worst_case: float | None = None
    best_case: float | None = None
    segment: str = ""
    segments: int = Field(default=1, description="in how many it was held; the one shown stands worst")
    reason: str = ""
    baseline: str = Field(default="", description="the run it is compared with")
    p: float | None = Field(default=None, description="of the comparison a rule is about")
    p_adjusted: float | None = Field(default=None, description="by Holm over the declared gates")
    component: str = Field(default="", description="what changed since the baseline and made this a rule of its own")


class GateResult(Frozen):
    word: GateWord
    declared: bool
    rules: tuple[RuleResult, ...] = ()
    reasons: tuple[str, ...] = ()


class LoweredSeverity(Frozen):
    """A severity that the spec sets below what such a call usually has, and why."""

    at: str
    usual: str
    severity: str
    calls: str
    because: str = ""


class CheckLineRow(Frozen):
    """One line of a check. `actual` of one that failed, but for measured times."""

    what: str
    state: CheckState
    at: str = ""
    actual: str = ""
    expected: str = ""
    reason: str = ""


class CheckRow(Frozen):
    """The checks of one server: `planned` lines, and those that were carried out."""

    server: str
    planned: int
    lines: tuple[CheckLineRow, ...] = ()


class Scorecard(Frozen):
    format: Literal["mcpe-scorecard/1"] = "mcpe-scorecard/1"
    suite: str
    title: str
    spec: str
    plan_key: str
    harness: str
    sandbox: tuple[str, ...] = ()
    tasks: int
    planned: int
    recorded: int
    complete: bool
    gate: GateResult
    cells: tuple[CellScore, ...]
    matrix: tuple[GroupScore, ...] = Field(default=(), description="groups of tasks by cells: group, then plan order")
    comparisons: tuple[ComparisonScore, ...] = ()
    rows: tuple[TaskRow, ...]
    safety: Safety
    judges: tuple[JudgeScore, ...] = ()
    checks: tuple[CheckRow, ...] = ()
    lowered: tuple[LoweredSeverity, ...] = ()
    leads: tuple[LeadRow, ...]
    failures: tuple[FailureRow, ...]
    untestable: tuple[UntestableRow, ...]
    findings: tuple[FindingRow, ...]
    heldout_look: int | None = Field(
        default=None,
        description="the how-many-th run of this suite, in this project, that showed results of its held-out tasks",
    )
    exit_code: int
