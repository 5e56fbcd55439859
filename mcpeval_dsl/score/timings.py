"""Score: measured times, kept apart from the scorecard because they differ from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcpeval_dsl.records.checks import CheckRecord, CheckState
from mcpeval_dsl.score.frame import Frame
from mcpeval_dsl.statistics.spread import Spread, spread


@dataclass(frozen=True, slots=True)
class CellTiming:
    """`agent_ms` per testable trial, without waits for limits, queues and starts; `latency_ms` per call."""

    cell: str
    split: str
    agent_ms: Spread | None
    latency_ms: Spread | None


def timing(cell: str, split: str, frame: Frame) -> CellTiming:
    testable = frame.where(frame["testable"])
    return CellTiming(cell, split, spread(testable["agent_ms"].tolist()), spread(testable.call_times().tolist()))


@dataclass(frozen=True, slots=True)
class CheckTiming:
    """One line `latency` of a check (at path:line:column): mean, p50, p95 and max of its calls, in ms."""

    server: str
    what: str
    at: str
    state: CheckState
    measured: Mapping[str, float]


def check_timings(records: Iterable[CheckRecord]) -> tuple[CheckTiming, ...]:
    """In order of the checks."""
    return tuple(
        CheckTiming(record.server, line.what, line.at, line.state, line.measured)
        for record in records
        for line in record.lines
        if line.measured
    )


@dataclass(frozen=True, slots=True)
class TimeOverhead:
    """Median agent time (ms) with the treatment − with the baseline, for one row of a comparison; see `model.Overhead`."""

    treatment_cell: str
    baseline_cell: str
    split: str
    group: str
    value: float
    low: float | None
    high: float | None
    tasks: int
