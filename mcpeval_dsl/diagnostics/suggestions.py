"""Diagnostics, beside the value: did you mean …? One rule for every unknown name."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to `word`, if it is near enough to be a slip: up to a third of its letters, at least one.

    Distance is optimal string alignment (insert, delete, replace, swap neighbours; Damerau 1964), on lower case with
    `-` and `_` alike. The first of equally near ones wins. A single letter is near nothing but itself.
    """
    plain = _plain(word)
    best: str | None = None
    allowed = max(1, len(plain) // 3)
    for candidate in candidates:
        other = _plain(candidate)
        if plain == other and word != candidate:
            return candidate
        if candidate == word or min(len(plain), len(other)) < 2 or abs(len(plain) - len(other)) > allowed:
            continue
        found = distance(plain, other, allowed)
        if found <= allowed:
            best, allowed = candidate, found - 1
            if allowed < 1:
                break
    return best


def _plain(word: str) -> str:
    return word.lower().replace("-", "_")


def distance(left: str, right: str, limit: int) -> int:
    """Optimal string alignment distance; `limit + 1` for anything farther than `limit`."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, previous, row = row, before, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and i > 1 and min(before) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
