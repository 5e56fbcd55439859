"""Values, beside decoding: JSON from outside, refused where it is nested deeper than every later reader takes it.

Python reads about 1,000 levels, and what keeps a record far fewer: a value between the two would be lost when it is
written down, long after the trial that met it.
"""

from __future__ import annotations

import json
from typing import Any

MOST_LEVELS = 100
MOST_BITS = 10_000  # of a whole number; from about 14,000 Python refuses to write one out


def json_within(text: str, **options: Any) -> Any:
    """`json.loads` with its options. Raises ValueError for what is no JSON or is nested too deeply, and nothing else."""
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if text.count("[") + text.count("{") > MOST_LEVELS and not shallow(value):
        raise ValueError(f"it is nested more than {MOST_LEVELS} levels deep")
    return value


def shallow(value: Any) -> bool:
    """Whether a JSON value has at most MOST_LEVELS levels of lists and objects. Without recursion, one visit each."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_LEVELS):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return True
    return False
