"""Statistics of means over tasks whose trials, or which themselves, are not independent: errors, ICC, design effect."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from mcpeval_dsl.statistics.distributions import mean


def standard_error(values: Sequence[float]) -> float:
    """sd(values, ddof 1)/√n: the naive error, as if all values were independent. Needs two values."""
    m, n = mean(values), len(values)
    return math.sqrt(math.fsum((x - m) ** 2 for x in values) / (n * (n - 1)))


def clustered_error(values: Sequence[float], clusters: Sequence[Hashable]) -> float | None:
    """√(C/(C−1) · Σ_c (Σ_{i∈c} (x_i − x̄))²)/n for C clusters (CR1; Miller 2024, arXiv:2411.00640); None for C < 2.

    With one value per cluster this is `standard_error`.
    """
    if len(values) != len(clusters):
        raise ValueError("one cluster for each value is needed")
    m = mean(values) if values else 0.0
    sums: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums.setdefault(cluster, []).append(value - m)
    count = len(sums)
    if count < 2:
        return None
    total = math.fsum(math.fsum(deviations) ** 2 for deviations in sums.values())
    return math.sqrt(count / (count - 1) * total) / len(values)


def pairwise_clustered_error(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """√(SE² + n⁻² Σ_c Σ_i Σ_{j≠i} (x_ic − x̄)(x_jc − x̄)), as Miller 2024 writes it; ours is `clustered_error`.

    It has no factor C/(C−1), so that it is too small for few clusters. The inner sums are (Σ_i)² − Σ_i², hence linear.
    """
    sums: dict[Hashable, float] = {}
    m, squares = mean(values), 0.0
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + (value - m)
        squares += (value - m) ** 2
    cross = math.fsum(total * total for total in sums.values()) - squares
    return math.sqrt(standard_error(values) ** 2 + cross / len(values) ** 2)


def runs_error(trials: Sequence[Sequence[float]]) -> float:
    """sd(means of runs, ddof 1)/√runs; only where the k-th trials of all tasks are one run. Says nothing of other tasks."""
    return standard_error([mean(run) for run in zip(*trials, strict=True)])


def fixed_tasks_error(trials: Iterable[Sequence[float]]) -> float | None:
    """√(Σ_t p_t(1−p_t)/(n_t−1))/T: the error when the tasks are the whole population. None when a task has one trial."""
    variances: list[float] = []
    for outcomes in trials:
        if len(outcomes) < 2:
            return None
        p = mean(outcomes)
        variances.append(p * (1 - p) / (len(outcomes) - 1))
    return math.sqrt(math.fsum(variances)) / len(variances) if variances else None


def intraclass_correlation(trials: Sequence[Sequence[float]]) -> float | None:
    """ICC(1) = (MSB − MSW)/(MSB + (k₀ − 1)·MSW) by one-way analysis of variance; k₀ is the usual mean size when unequal.

    `trials`: outcomes by task. None with fewer than two tasks, without repeats, or when nothing varies.
    """
    groups = [group for group in trials if group]
    sizes = [len(group) for group in groups]
    total, count = sum(sizes), len(groups)
    if count < 2 or total == count:
        return None
    grand = math.fsum(x for group in groups for x in group) / total
    means = [mean(group) for group in groups]
    between = math.fsum(n * (m - grand) ** 2 for n, m in zip(sizes, means, strict=True)) / (count - 1)
    within = math.fsum((x - m) ** 2 for group, m in zip(groups, means, strict=True) for x in group) / (total - count)
    size = (total - sum(n * n for n in sizes) / total) / (count - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread > 0 else None


def design_effect(trials: Sequence[Sequence[float]]) -> float | None:
    """(clustered error / naive error)² over single trials: how many times more trials this is than it looks."""
    values = [x for group in trials for x in group]
    if len(values) < 2:
        return None
    error = clustered_error(values, [number for number, group in enumerate(trials) for _ in group])
    naive = standard_error(values)
    return None if error is None or naive == 0 else (error / naive) ** 2
