"""What a grader says about one trial: a verdict with its evidence and the place of the expectation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcpeval_dsl.source import Location

Said = Literal["yes", "no", "missing", "moot"]
Reads = Literal["answer", "state", "calls", "results"]
MissingBecause = Literal[
    "not_run", "judge_api", "judge_unreadable", "judge_not_believed", "timeout", "grader_exception", "no_evidence", ""
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`deciding` is False for weight 0. `score` in [0, 1] where a grader has one (set F1, judge's share of weight).

    `actual` and `expected` are short texts for people; `reason` says why a verdict is missing or moot.
    `turn` is the turn of a dialogue that was graded; None: the whole trial.
    """

    grader: str
    kind: str
    verdict: Said
    deciding: bool = True
    weight: float = 1.0
    reads: Reads = "answer"
    missing_because: MissingBecause = ""
    actual: str = ""
    expected: str = ""
    reason: str = ""
    score: float | None = None
    flags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    parts: tuple[Verdict, ...] = ()
    cost_usd: float | None = None
    at: Location | None = None
    turn: int | None = None
