"""Statistics of two shares, independent or of the same items: what other reports use, to compare with; not our default."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from mcpeval_dsl.statistics.intervals import Interval, clopper_pearson, wilson

if TYPE_CHECKING:
    from mcpeval_dsl.statistics.intervals import Estimate


def bernoulli_error(passed: int, n: int) -> float:
    """√(p(1−p)/n) of n independent trials (Miller 2024); 0 where all are alike, which is why it is not used."""
    share = passed / n
    return math.sqrt(share * (1 - share) / n)


def unpaired_error(treatment: float, baseline: float) -> float:
    """√(SE_A² + SE_B²) of two samples that share no tasks (Miller 2024 §4.1)."""
    return math.hypot(treatment, baseline)


def newcombe(one: tuple[int, int], other: tuple[int, int], confidence: float = 0.95) -> Interval:
    """Difference of two independent shares, (passed, n) each, from their Wilson intervals (Newcombe 1998, method 10)."""
    (a, m), (b, n) = one, other
    p, q = a / m, b / n
    first, second = wilson(p, m, confidence), wilson(q, n, confidence)
    return Interval(
        p - q - math.hypot(p - first.low, second.high - q),
        p - q + math.hypot(first.high - p, q - second.low),
    )


def effective_clopper_pearson(found: Estimate, confidence: float = 0.95) -> Interval | None:
    """Exact binomial interval at the effective n, p·n_eff passed (Korn and Graubard 1998); None with one cluster."""
    if found.effective_n is None:
        return None
    return clopper_pearson(found.value * found.effective_n, found.effective_n, confidence)


def mcnemar_exact(gained: int, lost: int) -> float:
    """Two-sided binomial p over the items that changed sides, one trial each (McNemar 1947); 1 where none did."""
    changed = gained + lost
    return 1.0 if changed == 0 else min(1.0, 2 * _lower_tail(min(gained, lost), changed))


def mcnemar_mid(gained: int, lost: int) -> float:
    """The same with half the weight on what was observed: 2·P(X ≤ m) − P(X = m) (Fagerland et al. 2013)."""
    changed, fewer = gained + lost, min(gained, lost)
    if changed == 0:
        return 1.0
    return min(1.0, 2 * _lower_tail(fewer, changed) - float(Fraction(math.comb(changed, fewer), 1 << changed)))


def mcnemar_corrected(gained: int, lost: int) -> tuple[float, float]:
    """χ² = (|b−c|−1)²/(b+c) with one degree of freedom, and its p (Edwards 1948); (0, 1) where nothing changed."""
    from scipy.special import chdtrc

    changed = gained + lost
    if changed == 0:
        return 0.0, 1.0
    statistic = max(0, abs(gained - lost) - 1) ** 2 / changed
    return statistic, float(chdtrc(1, statistic))


def _lower_tail(k: int, n: int) -> float:
    """P(X ≤ k) for X ~ Bin(n, ½), in whole numbers."""
    return float(Fraction(sum(math.comb(n, i) for i in range(k + 1)), 1 << n))
