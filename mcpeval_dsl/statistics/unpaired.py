"""Statistics of two groups of different tasks: how likely chance alone gives as large a difference of their means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

_EXACT = 20_000
_DRAWN = 9_999


def permutation(one: Sequence[float], other: Sequence[float], seed: int = 0) -> float | None:
    """Two-sided p of mean(one) − mean(other) when values are dealt anew to the two groups (Fisher 1935; Pitman 1937).

    Exact for at most 20,000 ways to deal, else (b+1)/(m+1) over 9,999 drawn ones, repeatable by `seed`. None where a group is
    empty. It asks whether both groups could be draws from one distribution.
    """
    if not one or not other:
        return None
    values, size = [*one, *other], len(one)
    total = math.fsum(values)
    # The mean's difference grows with the sum of the first group alone.
    centre = total * size / len(values)
    observed = abs(math.fsum(one) - centre) - 1e-9
    ways = math.comb(len(values), size)
    if ways <= _EXACT:
        hits = sum(abs(math.fsum(dealt) - centre) >= observed for dealt in combinations(values, size))
        return hits / ways
    import numpy as np

    source, table = np.random.default_rng(seed), np.asarray(values)
    sums = np.array([source.permutation(table)[:size].sum() for _ in range(_DRAWN)])
    return float(((abs(sums - centre) >= observed).sum() + 1) / (_DRAWN + 1))
