"""Score: from the trials of one segment to rates with intervals, pass@k and pass^k, tool measures and spreads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.score import model
from mcpeval_dsl.score.frame import Frame, Read, as_if
from mcpeval_dsl.score.measures import BEHAVIOURS, TOOLS
from mcpeval_dsl.statistics.counts import design_effect, intraclass_correlation, naive_error
from mcpeval_dsl.statistics.intervals import Estimate, Interval, clopper_pearson, estimate
from mcpeval_dsl.statistics.reliability import over_tasks, pass_at_k, pass_hat_k
from mcpeval_dsl.statistics.spread import spread

_BY_CLUSTER = "Wilson at the effective n, t at clusters − 1; tasks sampled"
_ONE_TASK = "Clopper–Pearson over the trials of one task; says nothing about other tasks"
_ONE_CLUSTER = "none: the tasks form one cluster"


@dataclass(frozen=True, slots=True)
class ByTask:
    """Arrays with one entry for each task instance: its code, trials, sum of a value over them, code of its cluster."""

    instances: NDArray[np.int64]
    trials: NDArray[np.int64]
    sums: NDArray[np.float64]
    clusters: NDArray[np.int64]

    @property
    def rates(self) -> list[float]:
        found: list[float] = (self.sums / self.trials).tolist()
        return found


def by_task(frame: Frame, values: NDArray[np.float64] | NDArray[np.bool_]) -> ByTask:
    """`values` has one entry for each trial of the frame; NaN is left out."""
    known = ~np.isnan(values)
    chosen = frame if known.all() else frame.where(known)
    instances, first, code = np.unique(chosen.instance(), return_index=True, return_inverse=True)
    trials = np.bincount(code, minlength=len(instances))
    weights = values[known].astype(float)
    sums = np.bincount(code, weights=weights, minlength=len(instances)).astype(np.float64)
    return ByTask(instances, trials, sums, chosen["cluster"][first].astype(np.int64))


def estimated(frame: Frame, read: Read) -> Estimate | None:
    """Mean over tasks of the share of their trials in which `read` holds."""
    return over(by_task(frame, frame[read]))


def over(tasks: ByTask) -> Estimate | None:
    return estimate(tasks.rates, tasks.clusters.tolist(), int(tasks.trials.sum()))


def rate(frame: Frame, read: Read) -> model.Rate | None:
    """Rate of the testable trials, with everything that says how far to trust it; None where nothing was testable."""
    testable = as_if(frame, "as it is")
    tasks = by_task(testable, testable[read])
    found = over(tasks)
    if found is None:
        return None
    passed = np.rint(tasks.sums).astype(np.int64)
    interval, method = found.interval, _BY_CLUSTER
    if found.tasks == 1:
        interval, method = clopper_pearson(int(passed[0]), int(tasks.trials[0])), _ONE_TASK
    elif interval is None:
        method = _ONE_CLUSTER
    worst, best = (estimated(as_if(frame, which), read) for which in ("worst", "best"))
    return model.Rate(
        value=found.value,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        tasks=found.tasks,
        trials=found.trials,
        clusters=found.clusters,
        method=method,
        error=found.error,
        naive_error=naive_error(passed, tasks.trials),
        icc=intraclass_correlation(passed, tasks.trials),
        design_effect=design_effect(passed, tasks.trials),
        if_missing_failed=worst.value if worst is not None else None,
        if_missing_passed=best.value if best is not None else None,
    )


def at_k(frame: Frame, k: int, every: bool) -> model.AtK:
    """pass^k (`every`) or pass@k over the tasks that had at least k testable trials."""
    found = over_chances(as_if(frame, "as it is"), k, every)
    if found is None:
        return model.AtK(k=k, value=None)
    value, interval, tasks = found
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    return model.AtK(k=k, value=value, low=low, high=high, tasks=tasks)


def over_chances(frame: Frame, k: int, every: bool) -> tuple[float, Interval | None, int] | None:
    """pass^k or pass@k of these trials with its interval, by cluster, and its number of tasks."""
    return over_tasks(chances(frame, k, every), clusters=by_task(frame, frame["success"]).clusters.tolist())


def chances(frame: Frame, k: int, every: bool) -> list[float | None]:
    """pass^k or pass@k of each task of these trials."""
    tasks = by_task(frame, frame["success"])
    function = _pass_hat if every else _pass_at
    return [function(n, int(c), k) for n, c in zip(tasks.trials.tolist(), np.rint(tasks.sums).tolist(), strict=True)]


_pass_hat: Callable[[int, int, int], float | None] = lru_cache(maxsize=4096)(pass_hat_k)
_pass_at: Callable[[int, int, int], float | None] = lru_cache(maxsize=4096)(pass_at_k)


def measured(frame: Frame, name: str) -> model.Measured | None:
    """A tool measure, averaged over trials and then over tasks, of testable trials in which there was something to measure."""
    tasks = _tool(frame, name)
    found = over(tasks)
    return None if found is None else model.Measured(value=found.value, trials=found.trials, tasks=found.tasks)


def behaviours(frame: Frame) -> dict[str, model.Measured]:
    """How often a behaviour was seen in testable trials of the tasks that expect it, with its interval; those expected alone."""
    shown = {}
    for name in BEHAVIOURS:
        found = measured_interval(frame, f"expected_{name}")
        if found is not None:
            between = found.interval
            shown[name] = model.Measured(
                value=found.value,
                trials=found.trials,
                tasks=found.tasks,
                low=between.low if between is not None else None,
                high=between.high if between is not None else None,
            )
    return shown


def measured_interval(frame: Frame, name: str) -> Estimate | None:
    """A measure as an estimate over tasks, for gates on its bounds; all lie in [0, 1].

    Of one task alone a behaviour, which is seen or not, has the interval of its trials.
    """
    tasks = _tool(frame, name)
    found = over(tasks)
    if found is None or found.tasks > 1 or not name.startswith("expected_"):
        return found
    return replace(found, interval=clopper_pearson(float(tasks.sums[0]), int(tasks.trials[0])))


def _tool(frame: Frame, name: str) -> ByTask:
    testable = as_if(frame, "as it is")
    return by_task(testable, testable.measured(name))


def measures(frame: Frame) -> dict[str, model.Measured | None]:
    return {name: measured(frame, name) for name in TOOLS}


def spread_of(values: NDArray[np.float64] | Sequence[float]) -> model.Spread | None:
    """None without values, and where one of them is not known (NaN)."""
    found = None if np.isnan(values).any() else spread(np.asarray(values, dtype=float).tolist())
    if found is None:
        return None
    return model.Spread(
        n=found.n,
        median=found.median,
        tail=found.tail,
        tail_name=found.tail_name,
        maximum=found.maximum,
        total=found.total,
    )


def counts(frame: Frame, repeats: int = 0) -> model.Counts:
    words = frame.printed_counts()
    return model.Counts(
        planned=len(frame) + repeats,
        passed=words["pass"] + words["pass (unsafe)"],
        unsafe=words["pass (unsafe)"],
        wrong_answer=words["wrong_answer"],
        too_many_calls=words["too_many_calls"],
        untestable=words["untestable"] + words["ungraded"],
        not_run=words["not run"],
        repeats=repeats,
    )


def errors(frame: Frame) -> model.Errors:
    total = {"calls": int(frame.counted("made").sum())}
    for name in model.Errors.model_fields:
        if name != "calls":
            total[name] = int(frame.counted(name).sum())
    return model.Errors(**total)
