"""Statistics by resampling tasks: the overhead of one condition over another, as a difference of medians.

numpy is imported on first use: most commands never need it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpeval_dsl.statistics.clusters import standard_error
from mcpeval_dsl.statistics.distributions import t_quantile
from mcpeval_dsl.statistics.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DRAWS = 2_000
_CELLS = 4_000_000
_FEWEST = 6


def median_overhead(
    treatment: Sequence[float],
    baseline: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[float, Interval | None]:
    """median(treatment) − median(baseline) over the same tasks, one value (the task's own median) for each.

    The interval is the percentile bootstrap (Efron 1979) of the difference: clusters of tasks (each task its own by default)
    are drawn with replacement, both conditions together; its tails are widened to Φ(√(C/(C−1))·t) for few clusters
    (Hesterberg 2015, arXiv:1411.5279, §6.3). None below six clusters, whose resamples are too few to say anything.
    """
    tasks = len(treatment)
    if tasks == 0 or tasks != len(baseline) or (clusters is not None and len(clusters) != tasks):
        raise ValueError("one value for each task and condition, and one cluster for each task, are needed")
    import numpy as np

    one, other = np.asarray(treatment, dtype=float), np.asarray(baseline, dtype=float)
    value = float(np.median(one) - np.median(other))
    if len(set(treatment)) == len(set(baseline)) == 1 and tasks >= _FEWEST:
        return value, Interval(value, value)
    number = {cluster: at for at, cluster in enumerate(dict.fromkeys(clusters or range(tasks)))}
    if len(number) < _FEWEST:
        return value, None
    member = np.array([number[cluster] for cluster in (clusters or range(tasks))])
    tail = _widened((1 - confidence) / 2, len(number))
    low, high = np.quantile(_differences(one, other, member, len(number), seed), [tail, 1 - tail])
    return value, Interval(min(value, float(low)), max(value, float(high)))


def _differences(
    one: NDArray[np.float64], other: NDArray[np.float64], member: NDArray[np.int64], clusters: int, seed: int
) -> NDArray[np.float64]:
    """Differences of medians of the resamples, in portions so that memory stays bounded."""
    import numpy as np

    drawn = _drawn(clusters, seed) if clusters * _DRAWS <= _CELLS else _portions(clusters, seed, len(one))
    found = []
    for weights in drawn:
        of_tasks = weights if len(one) == clusters else weights[member]
        found.append(_weighted_medians(one, of_tasks) - _weighted_medians(other, of_tasks))
    return np.concatenate(found)


@lru_cache(maxsize=4)
def _drawn(clusters: int, seed: int) -> tuple[NDArray[np.int16], ...]:
    """All resamples at once, kept: the differences of one table are over the same tasks again and again."""
    return tuple(_portions(clusters, seed, clusters))


def _portions(clusters: int, seed: int, tasks: int) -> Iterator[NDArray[np.int16]]:
    """How often each cluster (row) is in each resample (column)."""
    import numpy as np

    source, chances = np.random.default_rng(seed), np.full(clusters, 1 / clusters)
    portion = max(1, _CELLS // max(tasks, clusters))
    for start in range(0, _DRAWS, portion):
        drawn = source.multinomial(clusters, chances, size=min(portion, _DRAWS - start))
        yield np.ascontiguousarray(drawn.T, dtype=np.int16)


def _weighted_medians(values: NDArray[np.float64], weights: NDArray[np.int16]) -> NDArray[np.float64]:
    """Median of each resample, given as how often each value is in it: the mean of the two middle ones where they differ."""
    import numpy as np

    order = np.argsort(values, kind="stable")
    reached = 2 * np.cumsum(weights[order], axis=0, dtype=np.int32)
    total = reached[-1] // 2
    lower, upper = (reached < total).sum(axis=0), (reached <= total).sum(axis=0)
    ranked = values[order]
    middle: NDArray[np.float64] = (ranked[lower] + ranked[upper]) / 2
    return middle


def _widened(tail: float, tasks: int) -> float:
    from scipy.special import ndtr

    return float(ndtr(math.sqrt(tasks / (tasks - 1)) * t_quantile(tail, tasks - 1)))


def ideal_error(values: Sequence[float]) -> float:
    """Standard error of the mean that a bootstrap over tasks tends to, √((T−1)/T)·sd/√T; a check of simulated ones."""
    return math.sqrt((len(values) - 1) / len(values)) * standard_error(values)
