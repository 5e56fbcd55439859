"""Values, numbers: when a text is a number, and when two numbers are near enough."""

from __future__ import annotations

import math
import re
from typing import Any

_STRICT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_LONGEST = 400
SLACK = 1e-9


def is_number(value: Any) -> bool:
    """A JSON number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def strict_number(text: str) -> int | float | None:
    """The number a text is when it is written as JSON writes numbers (`007`, `1,000` and ` 1` are not)."""
    if len(text) > _LONGEST or not _STRICT.fullmatch(text):
        return None
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def as_number(value: Any) -> int | float | None:
    """The number behind a JSON number or a text that is exactly one."""
    if is_number(value):
        number: int | float = value
        return number
    return strict_number(value) if isinstance(value, str) else None


def same_number(left: int | float, right: int | float) -> bool:
    """Whole numbers are compared exactly; with a fraction on either side up to the error of computing with them."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    try:
        return math.isclose(left, right, rel_tol=SLACK, abs_tol=1e-12)
    except OverflowError:
        return False


def near(actual: int | float, expected: int | float, tolerance: float, percent: bool = False) -> bool:
    """|actual - expected| <= tolerance, which is a fraction of |expected| with `percent`. The end counts."""
    try:
        allowed = tolerance * abs(expected) if percent else tolerance
        return abs(actual - expected) <= allowed + SLACK * max(abs(allowed), abs(expected) * 1e-3)
    except OverflowError:
        return False
