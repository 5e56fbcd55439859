"""Statistics of two raters on the same items, such as a judge and people: agreement, Cohen's κ, sensitivity, specificity.

Ratings are 0 or 1, one pair for each item. κ lies in [−1, 1]; the rest are shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcpeval_dsl.statistics.intervals import Interval

_DRAWS = 20_000
_PRIOR = 0.35  # between ¼ and ½: those cover less than 90 % where raters nearly always agree, or yes is rare


@dataclass(frozen=True, slots=True)
class Agreement:
    """`both`, `neither`: items on which the raters agree on yes and on no; `only_rater`, `only_truth`: the rest."""

    both: int
    only_rater: int
    only_truth: int
    neither: int

    @property
    def items(self) -> int:
        return self.both + self.only_rater + self.only_truth + self.neither

    @property
    def share(self) -> float | None:
        """Observed agreement p_o."""
        return (self.both + self.neither) / self.items if self.items else None

    @property
    def rate(self) -> float | None:
        """How often the rater says yes."""
        return (self.both + self.only_rater) / self.items if self.items else None

    @property
    def sensitivity(self) -> float | None:
        """P(rater says yes | truth is yes); None where the truth is never yes."""
        positive = self.both + self.only_truth
        return self.both / positive if positive else None

    @property
    def specificity(self) -> float | None:
        """P(rater says no | truth is no); None where the truth is never no."""
        negative = self.neither + self.only_rater
        return self.neither / negative if negative else None

    @property
    def kappa(self) -> float | None:
        """κ = (p_o − p_e)/(1 − p_e) (Cohen 1960); None where both give the same one rating always, so that p_e = 1."""
        if not self.items:
            return None
        n = self.items
        expected = (
            (self.both + self.only_rater) * (self.both + self.only_truth)
            + (self.neither + self.only_truth) * (self.neither + self.only_rater)
        ) / n**2
        observed = (self.both + self.neither) / n
        return (observed - expected) / (1 - expected) if expected < 1 else None


def agreement(rater: Sequence[float], truth: Sequence[float]) -> Agreement:
    """The table of the two; raises ValueError for ratings other than 0 and 1, or lists of unequal length."""
    counts: dict[tuple[float, float], int] = {(1, 1): 0, (1, 0): 0, (0, 1): 0, (0, 0): 0}
    for pair in zip(rater, truth, strict=True):
        if pair not in counts:
            raise ValueError(f"ratings are 0 or 1, not {pair}")
        counts[pair] += 1
    return Agreement(counts[1, 1], counts[1, 0], counts[0, 1], counts[0, 0])


def kappa_interval(table: Agreement, confidence: float = 0.95, seed: int = 0) -> Interval | None:
    """Equal-tailed interval of κ from its posterior: the four shares are Dirichlet(.35 + counts), drawn with `seed`.

    It reaches up to 1, and has a width, where all items agree; there the delta method (Fleiss, Cohen and Everitt 1969) gives
    none. None without items.
    """
    if not table.items:
        return None
    import numpy as np

    weights = np.array([table.both, table.only_rater, table.only_truth, table.neither], dtype=float) + _PRIOR
    both, only_rater, only_truth, neither = np.random.default_rng(seed).dirichlet(weights, _DRAWS).T
    expected = (both + only_rater) * (both + only_truth) + (neither + only_truth) * (neither + only_rater)
    kappas = (both + neither - expected) / np.maximum(1e-12, 1 - expected)
    tail = (1 - confidence) / 2
    low, high = np.quantile(kappas, [tail, 1 - tail])
    if not table.only_rater and not table.only_truth:
        high = 1.0
    return Interval(max(-1.0, float(low)), min(1.0, float(high)))
