"""Statistics: p values adjusted for the number of questions asked, in the order they were given."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down (1979): controls the chance of any false finding; for declared gates."""
    count = len(p_values)
    adjusted, highest = [0.0] * count, 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up (1995): controls the share of false findings; for the cells of a matrix."""
    return [min(1.0, raw) for raw in _step_up(p_values)]


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Yekutieli (2001): as Benjamini–Hochberg, times Σ 1/i, for questions that depend on each other in any way."""
    if not p_values:
        return []
    price = sum(1 / rank for rank in range(1, len(p_values) + 1))
    return [min(1.0, price * raw) for raw in _step_up(p_values)]


def _step_up(p_values: Sequence[float]) -> list[float]:
    """m/rank·p, made monotone from the largest down, not yet cut at 1."""
    count = len(p_values)
    adjusted, lowest = [0.0] * count, float("inf")
    for rank, index in zip(range(count, 0, -1), sorted(range(count), key=lambda i: -p_values[i]), strict=True):
        lowest = min(lowest, count / rank * p_values[index])
        adjusted[index] = lowest
    return adjusted
