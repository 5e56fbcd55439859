"""Grade, whether a text mentions a value: more careful than a search, because `BILL-1` is not in `BILL-12`.

A value that begins or ends with a digit must not go on with one in the text, nor with a decimal; numbers are looked for as
numbers, dates (with `as date`) as dates.
"""

from __future__ import annotations

import re
from typing import Any

from mcpeval_dsl.grade.dates import dates_in
from mcpeval_dsl.grade.normalise import comparable, marks, text, tolerance
from mcpeval_dsl.semantics.graders import Normalisation
from mcpeval_dsl.values.numbers import is_number, near, same_number
from mcpeval_dsl.values.spelling import numbers_in
from mcpeval_dsl.values.text import as_text


def unmentioned(answer: str, values: list[Any], how: Normalisation) -> list[Any]:
    """The values that the answer does not mention; of a list each item is looked for."""
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    haystack = text(answer, how.ignore)
    return [item for item in flat if not _mentioned(answer, haystack, item, how)]


def mentions(answer: str, value: Any, how: Normalisation) -> bool:
    return not unmentioned(answer, [value], how)


def _mentioned(answer: str, haystack: str, value: Any, how: Normalisation) -> bool:
    wanted = comparable(value, how) if how.reading in ("date", "number") or how.format else value
    if how.reading == "date" or (how.format and not is_number(wanted)):
        return any(day.isoformat() == wanted for day in dates_in(answer, how.format))
    if is_number(wanted):
        return _has_number(answer, wanted, how)
    return contains(haystack, text(as_text(wanted), how.ignore))


def _has_number(answer: str, wanted: int | float, how: Normalisation) -> bool:
    within = tolerance(how)
    numbers = numbers_in(answer, marks(how))
    if within is None:
        return any(same_number(number, wanted) for number in numbers)
    return any(near(number, wanted, within.amount, within.percent) for number in numbers)


def contains(haystack: str, needle: str) -> bool:
    """The needle with no digit glued to a digit at its ends."""
    if not needle:
        return True
    before = r"(?<!\d)(?<!\d[.,])" if needle[0].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if needle[-1].isdigit() else ""
    if not before and not after:
        return needle in haystack
    return re.search(f"{before}{re.escape(needle)}{after}", haystack) is not None
