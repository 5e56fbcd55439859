"""Provenance, first step: when are two values the same one, and how much would it mean if they met by chance?"""

from __future__ import annotations

import math
import re
from typing import Any

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_PLACEHOLDER = re.compile(r"\[?(?:redacted|secret|hidden|masked)[^\]]*\]?|\*{3,}|x{4,}", re.IGNORECASE)


def exact(value: Any) -> str | None:
    """The one form in which equal values are equal; None for what carries nothing (booleans, null, empty, masked).

    A whole number equals its numeric text (also `90211.0`); leading zeros are part of a text; no limit at 2⁵³.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str):
        return value if value and not _PLACEHOLDER.fullmatch(value) else None
    return None


def bits(form: str) -> float:
    """A rough measure of information: digits alone, hexadecimal, else letters and digits."""
    if _INTEGER.fullmatch(form):
        return len(form.lstrip("-")) * math.log2(10)
    distinct = len(set(form))
    alphabet = 16.0 if re.fullmatch(r"[0-9a-f-]+", form) else 36.0
    return min(len(form) * math.log2(alphabet), distinct * 8.0)
