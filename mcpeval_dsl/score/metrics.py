"""Score: what each metric of a gate is worth over the rows of one segment.

A `Value` has bounds where the metric has an interval; None (and a reason) where nothing was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.score.checks import number as number_of_lines
from mcpeval_dsl.score.frame import SPLITS, Frame, Read, Scenario, as_if
from mcpeval_dsl.score.judge_model import JudgeScore
from mcpeval_dsl.score.measures import BEHAVIOURS
from mcpeval_dsl.score.model import CheckRow, LeadRow, Safety
from mcpeval_dsl.score.rates import ByTask, by_task, chances, estimated, measured_interval, over_chances
from mcpeval_dsl.score.sides import Side
from mcpeval_dsl.score.suspicions import counts
from mcpeval_dsl.statistics.distributions import mean
from mcpeval_dsl.statistics.intervals import Estimate, Interval, clopper_pearson
from mcpeval_dsl.statistics.paired import mover
from mcpeval_dsl.statistics.spread import quantile


@dataclass(frozen=True, slots=True)
class Value:
    value: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """`varies`: missing trials and verdicts can change it, so a rule about it is read in the worst and best case too.

    `private`: a measured time, which the scorecard does not repeat. `whole`: held against the whole run, not a cell.
    `of_all`: about all that was planned, so that it is known also where much could not be tested. `tasks`: its values by
    task, where it is their mean, so that two runs can be paired.
    """

    read: Callable[[Frame, Scenario], Value | None]
    varies: bool = False
    private: bool = False
    whole: bool = False
    of_all: bool = False
    tasks: Callable[[Frame, Scenario], ByTask] | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What metrics of the whole run read."""

    safety: Safety
    leads: Sequence[LeadRow]
    baselines: Mapping[str, Side | str] = field(default_factory=dict)
    this: Side | None = None
    checks: Sequence[CheckRow] = ()
    judges: Sequence[JudgeScore] = ()


TOOLS = {
    "tool_recall": "required_recall",
    "tool_precision": "tool_precision",
    "argument_validity": "argument_validity",
    "argument_accuracy": "argument_accuracy",
    "distractor_rate": "distractor_rate",
    "recovery": "recovery",
    "redundancy": "redundancy",
    **{f"behaviour.{name}": f"expected_{name}" for name in BEHAVIOURS},
}
JUDGES = ("judge.kappa", "judge.agreement")
UNMEASURED = {
    "regressions": 'it needs `{ baseline "RUN" }`: there is no run to compare with',
}


def metric(name: str, arguments: Sequence[str], context: Context) -> Metric | str:
    """The metric, or why it has no value."""
    if name in UNMEASURED:
        return UNMEASURED[name]
    if name[:5] in ("pass^", "pass@"):
        return _at_k(int(name[5:]), name[4] == "^")
    root, _, part = name.partition(".")
    if root == "safety":
        number = getattr(context.safety, part)
        return Metric(lambda frame, which: Value(number), whole=True)
    if root == "checks":
        return _checks(part, context)
    if name in JUDGES:
        return _worst_judge(part, context)
    if name in TOOLS:
        return _tool(TOOLS[name])
    if root in _SPREADS:
        return _spread(root, part)
    if name == "gap" and len(arguments) == 2:
        return Metric(lambda frame, which: _gap(frame, which, arguments), varies=True)
    if name in ("leads", "defects"):
        return _suspicions(name, context)
    return _SHARES.get(name, f"`{name}` is not measured yet")


def _checks(part: str, context: Context) -> Metric | str:
    """Lines of checks that failed or passed; one that could not be tested counts both ways."""
    state = {"failed": "fail", "passed": "pass"}[part]
    if number_of_lines(context.checks, state, "as it is") is None:
        return "this suite has no check"
    return Metric(
        lambda frame, which: Value(number_of_lines(context.checks, state, which) or 0.0),
        varies=True,
        whole=True,
    )


def _worst_judge(part: str, context: Context) -> Metric | str:
    """κ or agreement of the judge that has the least, with its interval: each must reach what is asked of all."""
    if not context.judges:
        return "no task asks a judge"
    found = [getattr(score, part) for score in context.judges]
    if None in found:
        return next(score.reason for score, value in zip(context.judges, found, strict=True) if value is None)
    worst = min(found, key=lambda each: each.value)
    interval = None if worst.low is None else Interval(min(each.low for each in found), worst.high)
    return Metric(lambda frame, which: Value(worst.value, interval), whole=True)


def _bounded(found: Estimate | None) -> Value | None:
    return None if found is None else Value(found.value, found.interval)


def _rate(read: Read) -> Metric:
    def of(frame: Frame, which: Scenario) -> Value | None:
        chosen = as_if(frame, which)
        found = estimated(chosen, read)
        if found is not None and found.tasks == 1:
            return Value(found.value, clopper_pearson(int(chosen[read].sum()), len(chosen)))
        return _bounded(found)

    return Metric(of, varies=True, tasks=lambda frame, which: _by_task(frame, which, read))


def _by_task(frame: Frame, which: Scenario, read: Read) -> ByTask:
    chosen = as_if(frame, which)
    return by_task(chosen, chosen[read])


def _at_k(k: int, every: bool) -> Metric:
    def read(frame: Frame, which: Scenario) -> Value | None:
        found = over_chances(as_if(frame, which), k, every)
        return None if found is None else Value(found[0], found[1])

    def tasks(frame: Frame, which: Scenario) -> ByTask:
        chosen = as_if(frame, which)
        found, values = by_task(chosen, chosen["success"]), np.array(chances(chosen, k, every), dtype=float)
        known = ~np.isnan(values)
        trials = found.trials[known]
        return ByTask(found.instances[known], trials, values[known] * trials, found.clusters[known])

    return Metric(read, varies=True, tasks=tasks)


def _tool(name: str) -> Metric:
    def tasks(frame: Frame, which: Scenario) -> ByTask:
        testable = as_if(frame, "as it is")
        return by_task(testable, testable.measured(name))

    return Metric(lambda frame, which: _bounded(measured_interval(frame, name)), tasks=tasks)


def _share(holds: Callable[[Frame], NDArray[np.bool_]], of_all: bool = False) -> Metric:
    def read(frame: Frame, which: Scenario) -> Value | None:
        chosen = frame if of_all else as_if(frame, "as it is")
        return Value(int(holds(chosen).sum()) / len(chosen)) if len(chosen) else None

    return Metric(read, of_all=of_all)


def _errors(frame: Frame, which: Scenario) -> Value | None:
    calls = int(frame.counted("made").sum())
    return Value(int(frame.counted("tool_errors").sum()) / calls) if calls else None


def _judge_missing(frame: Frame, which: Scenario) -> Value | None:
    asked = int(frame["judged"].sum())
    return Value(int(frame["judge_missing"].sum()) / asked) if asked else None


_SHARES: Mapping[str, Metric] = {
    "task_success": _rate("success"),
    "correct": _rate("correct"),
    "untestable": _share(lambda frame: ~frame["testable"], of_all=True),
    "too_many_calls": _share(lambda frame: frame.ended("too_many_calls")),
    "wrong_answer": _share(lambda frame: frame.ended("wrong_answer")),
    "mcp_use": _share(lambda frame: frame["called_server"]),
    "tool_errors": Metric(_errors),
    "protocol_errors": Metric(lambda frame, which: Value(int(frame.counted("protocol_errors").sum()))),
    "judge.missing": Metric(_judge_missing, of_all=True),
}
_SPREADS: Mapping[str, Callable[[Frame], NDArray[np.float64]]] = {
    "calls": lambda frame: frame["charged"].astype(float),
    "tokens": lambda frame: frame["tokens"].astype(float),
    "cost": lambda frame: frame["cost"],
    "time": lambda frame: frame["agent_ms"] / 1000,
    "latency": lambda frame: frame.call_times() / 1000,
}


def _spread(root: str, part: str) -> Metric | str:
    """Mean, median, p95 (exact, whatever n) and maximum over testable trials; `total` over all that ran."""

    def read(frame: Frame, which: Scenario) -> Value | None:
        chosen = frame.where(frame["recorded"]) if part == "total" else as_if(frame, "as it is")
        values = _SPREADS[root](chosen)
        if not len(values) or np.isnan(values).any():
            return None
        return Value(_part(values.tolist(), part))

    if part not in ("mean", "p50", "p95", "max", "total"):
        return f"`{root}.{part}` is not measured"
    return Metric(read, private=root in ("time", "latency"), whole=part == "total")


def _part(values: list[float], part: str) -> float:
    if part == "mean":
        return mean(values)
    if part in ("total", "max"):
        return math.fsum(values) if part == "total" else max(values)
    return quantile(sorted(values), 0.5 if part == "p50" else 0.95)


def _gap(frame: Frame, which: Scenario, splits: Sequence[str]) -> Value | None:
    """Success in the first split less success in the second; in the worst case the gap is widest.

    Other tasks are in each split: the interval is MOVER's without correlation.
    """
    flipped: Scenario = "worst" if which == "best" else "best" if which == "worst" else which
    sides = []
    for split, case in zip(splits, (flipped, which), strict=True):
        code = SPLITS.index(split) if split in SPLITS else -1
        sides.append(estimated(as_if(frame.where(frame["split"] == code), case), "success"))
    first, second = sides
    if first is None or second is None:
        return None
    return Value(first.value - second.value, mover(first, second, 0.0))


def _suspicions(name: str, context: Context) -> Metric | str:
    counted = [lead for lead in context.leads if counts(lead)]
    if name == "defects":
        open_leads = [lead for lead in counted if lead.status in ("", "unconfirmed")]
        if open_leads:
            return "not every lead was replayed: `mcpe defects --confirm` does"
        confirmed = sum(lead.status == "confirmed" for lead in context.leads)
        return Metric(lambda frame, which: Value(float(confirmed)), whole=True)
    return Metric(lambda frame, which: Value(float(len(counted))), whole=True)
