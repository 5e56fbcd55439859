"""Score: the comparison of two runs as published. `run` is the newer one, `baseline` what it is held against.

Shares are in [0, 1], differences run − baseline. A value that was not measured is null.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcpeval_dsl.records.model import Frozen
from mcpeval_dsl.score.model import Counts, Delta, GateWord, Overhead, Rate

Verdict = Literal["regression", "none shown", "insufficient data", "refused"]


class Difference(Frozen):
    """Something that should be equal and is not. `name` is what `--accept` takes."""

    name: str
    text: str
    accepted: bool = False


class Change(Frozen):
    """What of a server changed: what the comparison may be about."""

    component: str
    server: str
    text: str


class CellDifference(Frozen):
    """One cell in one split, on the tasks that both runs could test. `calls_difference` is of mean calls a trial by task."""

    cell: str
    baseline_cell: str
    split: str
    counts: Counts
    baseline_counts: Counts
    success: Rate | None
    baseline_success: Rate | None
    difference: Delta | None
    calls_difference: Delta | None = None
    overheads: tuple[Overhead, ...] = ()
    inconclusive: bool = False


class Flip(Frozen):
    """A task that passes in more than half of its trials in one run and not in the other."""

    instance: str
    cell: str
    split: str
    direction: Literal["lost", "gained"]
    passed: int
    testable: int
    baseline_passed: int
    baseline_testable: int


class DefectChange(Frozen):
    kind: str
    server: str
    tool: str
    argument: str | None = None
    confirmed: bool
    direction: Literal["new", "fixed", "seen again", "not tested"]


class ViolationChange(Frozen):
    """Trials with such a violation, in both runs."""

    kind: str
    severity: str
    tool: str
    trials: int
    baseline_trials: int


class OverfitGap(Frozen):
    """(train − train before) − (held-out − held-out before): how much more was gained on what could be looked at.

    `p`: how likely the two changes differ as much where every task changes alike (permutation over clusters, two-sided).
    """

    cell: str
    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    train: float
    heldout: float


class ComponentResult(Frozen):
    """A rule that a change of a server brings with it."""

    text: str
    component: str
    word: GateWord
    cell: str = ""
    measured: float | None = None
    reason: str = ""


class RunComparison(Frozen):
    format: Literal["mcpe-comparison/1"] = "mcpe-comparison/1"
    run: str
    baseline: str
    suite: str
    verdict: Verdict
    because: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = Field(default=(), description="what should be equal and is not")
    changes: tuple[Change, ...] = ()
    cause: str = Field(default="", description="the one thing that differs; empty where several do")
    tasks: int = Field(default=0, description="task instances that both runs could test")
    only_run: tuple[str, ...] = ()
    only_baseline: tuple[str, ...] = ()
    cells: tuple[CellDifference, ...] = ()
    flips: tuple[Flip, ...] = ()
    components: tuple[ComponentResult, ...] = ()
    defects: tuple[DefectChange, ...] = ()
    violations: tuple[ViolationChange, ...] = ()
    overfit: tuple[OverfitGap, ...] = ()
    heldout_looks: int | None = Field(
        default=None,
        description="runs of the suite whose held-out tasks were shown, this one included; null without any",
    )
    notes: tuple[str, ...] = ()
    exit_code: int
