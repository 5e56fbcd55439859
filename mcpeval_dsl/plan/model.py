"""The plan: what a run will do, as deterministic JSON that another program can write and run.

Trials are not listed one by one: a `TrialGroup` stands for `trials` trials of one task instance in one cell, and
`trial_id`/`trial_key` name the k-th. Quantities as in `semantics.model`.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.semantics.graders import Calibration
from mcpeval_dsl.semantics.model import (
    Catalogue,
    Cell,
    Check,
    Comparison,
    Environment,
    Gate,
    Harvest,
    Host,
    Let,
    Model,
    Server,
    Task,
    Unsupported,
    Weight,
)
from mcpeval_dsl.source import Location

PLAN_FORMAT = "mcpe-plan/1"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class FileDigest(Frozen):
    """A spec, import or fixture the plan was made from; `path` is relative to the project root, with `/`."""

    path: str
    sha256: str


class LockedTool(Frozen):
    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, object] | None = None
    output_schema: dict[str, object] | None = None
    annotations: dict[str, object] | None = None
    sha256: str = Field(description="digest of the tool's canonical JSON as the server sent it")


class LockedServer(Frozen):
    """One server as `mcpe lock` met it; `era` is how the revision was negotiated."""

    server: str
    title: str | None = None
    version: str | None = None
    revision: str
    era: Literal["discover", "initialize"]
    transport: Literal["stdio", "streamable-http"]
    instructions: str | None = None
    capabilities: dict[str, object] = Field(default_factory=dict)
    tools: tuple[LockedTool, ...] = ()
    catalogue_sha256: str
    findings: tuple[str, ...] = ()
    sha256: str = Field(default="", description="digest of all the rest of this entry, so that an edit shows")


class Lock(Frozen):
    """`mcpe.lock`, beside the spec."""

    format: Literal["mcpe-lock/1"] = "mcpe-lock/1"
    servers: tuple[LockedServer, ...] = ()


class ConnectNode(Frozen):
    """Probe a server once, pin its revision, compare its catalogue with the lock."""

    kind: Literal["connect"] = "connect"
    id: str
    server: str
    key: str
    needs: tuple[str, ...] = ()


class HarvestNode(Frozen):
    """Read one source. `row` is the index of the task instance for a harvest that uses the loop's variable.

    `variant` names the cell server or parameters where the harvest depends on them.
    """

    kind: Literal["harvest"] = "harvest"
    id: str
    harvest: str
    task: str | None = None
    row: int | None = None
    cell: str | None = None
    key: str
    needs: tuple[str, ...] = ()


class TrialGroup(Frozen):
    """`trials` trials of one task instance in one cell. `row` is None without a loop."""

    kind: Literal["trial"] = "trial"
    id: str
    task: str
    row: int | None = None
    row_key: str | None = None
    row_value: Expression | None = None
    cell: str
    trials: int
    key: str = Field(description="content key of the group; grader settings apart")
    grade_key: str = Field(description="content key of everything that only grading reads")
    needs: tuple[str, ...] = ()


class CheckNode(Frozen):
    kind: Literal["check"] = "check"
    id: str
    server: str
    key: str
    needs: tuple[str, ...] = ()


Node = Annotated[ConnectNode | HarvestNode | TrialGroup | CheckNode, Field(discriminator="kind")]


class Ceiling(Frozen):
    """An upper bound; `value` None means unknown, for `reason`."""

    value: float | None
    reason: str = ""


class Counts(Frozen):
    tasks: int
    instances: int
    cells: int
    trials: int
    harvests: int
    connects: int
    checks: int
    heldout_left_out: int = Field(default=0, description="tasks left out because they are held out")


class Ceilings(Frozen):
    calls: Ceiling
    tokens: Ceiling
    cost_usd: Ceiling
    seconds: Ceiling


class PlanWarning(Frozen):
    code: str
    title: str
    at: Location | None = None


class Suite(Frozen):
    name: str
    title: str
    spec: str
    seed: int
    judge: str | None
    gate: Gate
    weights: tuple[Weight, ...]
    comparisons: tuple[Comparison, ...]


class Selection(Frozen):
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    heldout: bool = False


class Plan(Frozen):
    """One suite, ready to run. Everything a trial needs is inside; paths are relative to the project root."""

    format: Literal["mcpe-plan/1"] = "mcpe-plan/1"
    harness: str = Field(description="version of mcpe that wrote the plan")
    suite: Suite
    files: tuple[FileDigest, ...]
    fixtures: tuple[FileDigest, ...]
    lock: Lock | None = None
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
    checks: tuple[Check, ...]
    nodes: tuple[Node, ...]
    counts: Counts
    critical_path: tuple[str, ...]
    ceilings: Ceilings
    selection: Selection = Selection()
    calibrations: tuple[Calibration, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()
    key: str = Field(description="digest of the plan without places in the text")


class PlanFile(Frozen):
    """What `mcpe compile -o` writes: one plan for each suite."""

    format: Literal["mcpe-plans/1"] = "mcpe-plans/1"
    plans: tuple[Plan, ...]


def trial_id(group: str, trial: int) -> str:
    """Name of the k-th trial (1-based) of a group, as people type it: `label_it@canned#3`."""
    return f"{group}#{trial}"


def trial_key(group_key: str, trial: int) -> str:
    """Content key of the k-th trial (1-based) of a group."""
    return hashlib.sha256(f"{group_key}\x00{trial}".encode()).hexdigest()
