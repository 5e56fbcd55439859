"""Statistics: the middle and the tail of counts, times and costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_ENOUGH_FOR_P95 = 20


@dataclass(frozen=True, slots=True)
class Spread:
    """`tail` is the 95th percentile for n ≥ 20, the maximum below that; `tail_name` says which."""

    n: int
    median: float
    tail: float
    tail_name: str
    maximum: float
    total: float


def spread(values: Sequence[float]) -> Spread | None:
    """None without values."""
    if not values:
        return None
    ordered = sorted(values)
    enough = len(ordered) >= _ENOUGH_FOR_P95
    tail = quantile(ordered, 0.95) if enough else ordered[-1]
    name = "p95" if enough else "max"
    return Spread(len(ordered), quantile(ordered, 0.5), tail, name, ordered[-1], math.fsum(ordered))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan 1996)."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
