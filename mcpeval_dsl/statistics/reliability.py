"""Statistics of repeated trials of one task: pass@k (any of k passes) and pass^k (all k pass), without bias.

pass@k = 1 − C(n−c, k)/C(n, k) (Chen et al. 2021, arXiv:2107.03374); pass^k = C(c, k)/C(n, k) (Yao et al. 2024,
arXiv:2406.12045), for n trials of which c passed. The plug-in (c/n)^k is biased upwards and not offered.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence

from mcpeval_dsl.statistics.clusters import clustered_error
from mcpeval_dsl.statistics.distributions import mean, t_quantile
from mcpeval_dsl.statistics.intervals import Interval, clip, wilson


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of k trials passes; None for k > n."""
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"no such counts: n={n}, c={c}, k={k}")
    if k > n:
        return None
    if n - c < k:
        return 1.0
    if c == 0:
        return 0.0
    return -math.expm1(math.fsum(math.log1p(-k / i) for i in range(n - c + 1, n + 1)))


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that k trials all pass; None for k > n."""
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"no such counts: n={n}, c={c}, k={k}")
    if k > n:
        return None
    if c < k:
        return 0.0
    if c == n:
        return 1.0
    return math.exp(math.fsum(math.log1p(-(n - c) / (n - i)) for i in range(k)))


def over_tasks(
    values: Iterable[float | None], confidence: float = 0.95, clusters: Iterable[Hashable] | None = None
) -> tuple[float, Interval | None, int] | None:
    """Mean over tasks, its interval and the number of tasks that had n ≥ k; None when none had.

    SE by cluster (a task each unless `clusters` has one for each value; then SE = sd/√T) with t at C − 1; Wilson on C when
    all are equal; no interval for a single cluster.
    """
    of = itertools.count() if clusters is None else clusters
    known = [(value, cluster) for value, cluster in zip(values, of, strict=False) if value is not None]
    if not known:
        return None
    found = [value for value, _ in known]
    estimate = mean(found)
    return estimate, _interval(found, [cluster for _, cluster in known], estimate, confidence), len(found)


def _interval(
    values: Sequence[float], clusters: Sequence[Hashable], estimate: float, confidence: float
) -> Interval | None:
    error, count = clustered_error(values, clusters), len(set(clusters))
    if error is None:
        return None
    if max(values) - min(values) < 1e-12:
        return wilson(estimate, count, confidence)
    half = t_quantile(0.5 + confidence / 2, count - 1) * error
    return clip(Interval(estimate - half, estimate + half))
