"""What a run says while it goes on; a view turns it into lines, nothing depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcpeval_dsl.records.checks import CheckRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, TrialRecord


@dataclass(frozen=True, slots=True)
class Started:
    """`due` trials of `planned` are to be run; the others were finished before."""

    suite: str
    planned: int
    due: int
    folder: str


@dataclass(frozen=True, slots=True)
class Connected:
    record: ConnectRecord


@dataclass(frozen=True, slots=True)
class ModelChecked:
    model: str
    ok: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class HarvestDone:
    record: HarvestRecord


@dataclass(frozen=True, slots=True)
class CheckDone:
    record: CheckRecord


@dataclass(frozen=True, slots=True)
class TrialDone:
    record: TrialRecord
    done: int
    due: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """No trial has ended for `seconds`; `in_flight` are the ids of those that run."""

    seconds: float
    in_flight: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stopping:
    """`how`: drain waits for trials in flight, now ends them. `before`: what comes before any trial still goes on."""

    how: Literal["drain", "now"]
    in_flight: int
    before: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong beside the trials, in a sentence."""

    message: str


RunEvent: TypeAlias = (
    Started | Connected | ModelChecked | HarvestDone | CheckDone | TrialDone | Waiting | Stopping | Problem
)
