"""Statistics, beneath everything else: quantiles and tails of the distributions that intervals and tests need.

scipy is imported on first use: most commands never need it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache


def normal_quantile(p: float) -> float:
    """z with P(Z ≤ z) = p, for 0 < p < 1."""
    from scipy.special import ndtri

    return float(ndtri(p))


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """t with P(T ≤ t) = p for Student's t with `df` > 0 degrees of freedom."""
    if df == 1:
        return math.tan(math.pi * (p - 0.5))
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def t_two_sided(t: float, df: float) -> float:
    """P(|T| ≥ |t|)."""
    from scipy.special import stdtr

    return float(2.0 * stdtr(df, -abs(t)))


def beta_quantile(p: float, a: float, b: float) -> float:
    """x with P(X ≤ x) = p for Beta(a, b)."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value, exactly summed so that order does not matter."""
    return math.fsum(values) / len(values)
