"""Score: two sides on the same tasks, as one difference with its interval, its chance under nothing, and a word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.score import model
from mcpeval_dsl.score.frame import Frame
from mcpeval_dsl.score.rates import ByTask, spread_of
from mcpeval_dsl.statistics.bootstrap import median_overhead
from mcpeval_dsl.statistics.clusters import clustered_error
from mcpeval_dsl.statistics.distributions import t_quantile
from mcpeval_dsl.statistics.intervals import Estimate, Interval, estimate
from mcpeval_dsl.statistics.multiplicity import benjamini_hochberg, holm
from mcpeval_dsl.statistics.paired import mover, sign_flip, smallest_p
from mcpeval_dsl.statistics.power import (
    PLANNING_BETWEEN,
    PLANNING_WITHIN,
    detectable_effect,
    detectable_from_error,
)

Quantity = Literal["cost_usd", "calls", "tokens"]
LEVEL = 0.05
_QUANTITIES: tuple[tuple[Quantity, str], ...] = (("cost_usd", "cost"), ("calls", "charged"), ("tokens", "tokens"))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values of both sides over the tasks that both have, in order of the plan; `clusters` are those of the treatment."""

    instances: NDArray[np.int64]
    treatment: list[float]
    baseline: list[float]
    clusters: list[int]
    trials: tuple[int, int]
    only_treatment: NDArray[np.int64]
    only_baseline: NDArray[np.int64]

    @property
    def differences(self) -> list[float]:
        return [a - b for a, b in zip(self.treatment, self.baseline, strict=True)]

    @property
    def cluster_means(self) -> list[float]:
        """The mean difference of each cluster."""
        found: dict[int, list[float]] = {}
        for cluster, value in zip(self.clusters, self.differences, strict=True):
            found.setdefault(cluster, []).append(value)
        return [math.fsum(values) / len(values) for values in found.values()]


def paired(treatment: ByTask, baseline: ByTask) -> Pairs:
    """Tasks on one side only are named and left out, never filled in. Codes of instances must be the same frame's."""
    common, left, right = np.intersect1d(
        treatment.instances, baseline.instances, assume_unique=True, return_indices=True
    )
    return Pairs(
        instances=common,
        treatment=(treatment.sums[left] / treatment.trials[left]).tolist(),
        baseline=(baseline.sums[right] / baseline.trials[right]).tolist(),
        clusters=treatment.clusters[left].tolist(),
        trials=(int(treatment.trials[left].sum()), int(baseline.trials[right].sum())),
        only_treatment=np.setdiff1d(treatment.instances, common, assume_unique=True),
        only_baseline=np.setdiff1d(baseline.instances, common, assume_unique=True),
    )


def difference(pairs: Pairs) -> model.Delta | None:
    """Of two shares: MOVER's interval, Student's beside it. None where no task has both sides."""
    one, other = (
        estimate(values, pairs.clusters, trials)
        for values, trials in zip((pairs.treatment, pairs.baseline), pairs.trials, strict=True)
    )
    if one is None or other is None:
        return None
    error = clustered_error(pairs.differences, pairs.clusters)
    interval = mover(one, other, correlation_of(one, other, error))
    found = _tested(pairs, one.value - other.value, error)
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    if found.detectable is not None:
        return found.model_copy(update={"low": low, "high": high, "detectable": min(1.0, found.detectable)})
    tasks = len(pairs.treatment)
    trials = (max(1, pairs.trials[0] // tasks), max(1, pairs.trials[1] // tasks))
    planned = detectable_effect(one.clusters, PLANNING_BETWEEN, (PLANNING_WITHIN, PLANNING_WITHIN), trials)
    return found.model_copy(
        update={"low": low, "high": high, "detectable": min(1.0, planned), "detectable_from": "planning"}
    )


def difference_of_amounts(pairs: Pairs) -> model.Delta | None:
    """Of counts, tokens or money: the interval is Student's, since MOVER is for shares."""
    if not pairs.treatment:
        return None
    value = math.fsum(pairs.differences) / len(pairs.differences)
    found = _tested(pairs, value, clustered_error(pairs.differences, pairs.clusters))
    return found.model_copy(update={"low": found.t_low, "high": found.t_high})


def _tested(pairs: Pairs, value: float, error: float | None) -> model.Delta:
    """Without an interval. `detectable` at 80 % power and 5 % level, where the pairs do not all tie."""
    clusters = len(set(pairs.clusters))
    half = None if error is None else t_quantile(0.975, clusters - 1) * error
    moves = error is not None and error > 1e-12
    return worded(
        model.Delta(
            value=value,
            t_low=None if half is None else value - half,
            t_high=None if half is None else value + half,
            p=sign_flip(_by_cluster(pairs.differences, pairs.clusters)),
            smallest_p=smallest_p(clusters),
            detectable=detectable_from_error(error) if moves and error is not None else None,
            detectable_from="observed" if moves else "",
            tasks=len(pairs.treatment),
            clusters=clusters,
            treatment_trials=pairs.trials[0],
            baseline_trials=pairs.trials[1],
        )
    )


def worded(found: model.Delta, questions: int = 1) -> model.Delta:
    """The word, by the adjusted p where there is one. Too few clusters to ever show anything are insufficient data.

    `questions`: by how many a p is multiplied at worst, as Holm does with the smallest one.
    """
    p = found.p if found.p_adjusted is None else found.p_adjusted
    word: model.ComparisonWord = "no difference shown"
    if p is None or found.smallest_p is None or found.smallest_p * questions > LEVEL:
        word = "insufficient data"
    elif p <= LEVEL:
        word = "better" if found.value > 0 else "worse"
    return found.model_copy(update={"word": word})


def adjusted(found: Sequence[model.Delta], by: str) -> list[model.Delta]:
    """The same with p adjusted for all of them together, `by` Holm or Benjamini–Hochberg."""
    correct, questions = (holm, len(found)) if by == "Holm" else (benjamini_hochberg, 1)
    raw = [1.0 if delta.p is None else delta.p for delta in found]
    return [
        worded(delta.model_copy(update={"p_adjusted": p, "adjusted_by": by}), questions)
        for delta, p in zip(found, correct(raw), strict=True)
    ]


def correlation_of(one: Estimate, other: Estimate, error: float | None) -> float:
    """r with SE_d² = SE_A² + SE_B² − 2·r·SE_A·SE_B: Pearson's r of the tasks where each is a cluster of its own.

    At most Newcombe's (1998, method 10) for C pairs that all tie, 1 − 1/(2C√(p_A(1−p_A)p_B(1−p_B))): few tasks on
    which nothing moved do not show that nothing can, which r = 1 and an interval of no width would say.
    """
    if error is None or not one.error or not other.error:
        return 0.0
    r = (one.error**2 + other.error**2 - error**2) / (2 * one.error * other.error)
    spread = math.sqrt(max(0.0, one.value * (1 - one.value) * other.value * (1 - other.value)))
    most = 1 - 1 / (2 * one.clusters * spread) if spread > 0 else 0.0
    return max(-1.0, min(r, max(0.0, most)))


def _by_cluster(values: Sequence[float], clusters: Sequence[int]) -> list[float]:
    sums: dict[int, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums.setdefault(cluster, []).append(value)
    return [math.fsum(part) for part in sums.values()]


@dataclass(frozen=True, slots=True)
class Medians:
    """Each task's median of a quantity over its testable trials; `unknown` trials in which it was not known."""

    instances: NDArray[np.int64]
    values: NDArray[np.float64]
    clusters: NDArray[np.int64]
    unknown: int


def medians(frame: Frame, values: NDArray[np.float64]) -> Medians:
    """`values` has one entry for each trial of the frame, NaN where it is not known."""
    unknown = int(np.isnan(values).sum())
    code = frame.instance()
    order = np.lexsort((values, code))
    instances, first, sizes = np.unique(code[order], return_index=True, return_counts=True)
    ranked = values[order]
    middle = (ranked[first + (sizes - 1) // 2] + ranked[first + sizes // 2]) / 2 if len(ranked) else np.zeros(0)
    return Medians(instances, middle, frame["cluster"][order][first].astype(np.int64), unknown)


def overhead(treatment: Medians, baseline: Medians) -> tuple[float, Interval | None, int] | str:
    """(difference of medians, interval, tasks) over the tasks that both have, or why it is not known."""
    unknown = treatment.unknown + baseline.unknown
    if unknown:
        return f"it is not known of {unknown} {'trial' if unknown == 1 else 'trials'}"
    _, left, right = np.intersect1d(treatment.instances, baseline.instances, assume_unique=True, return_indices=True)
    if not len(left):
        return "no task was tested on both sides"
    clusters = treatment.clusters[left].tolist()
    value, interval = median_overhead(treatment.values[left].tolist(), baseline.values[right].tolist(), clusters)
    return value, interval, len(left)


def overheads(treatment: Frame, baseline: Frame) -> tuple[model.Overhead, ...]:
    """Of calls, tokens and cost, over testable trials; measured times are no part of a scorecard."""
    sides = tuple(side.where(side["testable"]) for side in (treatment, baseline))
    return tuple(_overhead(sides, what, column) for what, column in _QUANTITIES)


def _overhead(sides: tuple[Frame, ...], what: Quantity, column: str) -> model.Overhead:
    one, other = (side[column].astype(float) for side in sides)
    found = overhead(medians(sides[0], one), medians(sides[1], other))
    spreads = spread_of(one), spread_of(other)
    if isinstance(found, str):
        return model.Overhead(what=what, treatment=spreads[0], baseline=spreads[1], reason=found)
    value, interval, tasks = found
    return model.Overhead(
        what=what,
        value=value,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        treatment=spreads[0],
        baseline=spreads[1],
        tasks=tasks,
        reason="" if interval is not None else "too few tasks for an interval",
    )
