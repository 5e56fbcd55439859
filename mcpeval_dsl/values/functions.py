"""Values, the functions of the language: one list for values and for templates (there also as `x | name`).

The names are those of `semantics.directives.functions`. Each takes JSON values and gives one; arguments of the wrong
number or kind are an EvaluationError.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from typing import Any

from mcpeval_dsl.values.compare import ABSENT
from mcpeval_dsl.values.decode import json_value
from mcpeval_dsl.values.model import EvaluationError, NothingThere
from mcpeval_dsl.values.numbers import as_number
from mcpeval_dsl.values.spelling import number_in
from mcpeval_dsl.values.text import as_text, short

MOST = 1024 * 1024
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(.*)", re.ASCII | re.DOTALL)


def _items(value: Any, function: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise EvaluationError(f"`{function}` needs a list, not {short(value, 60)}")


def _some(value: Any, function: str) -> list[Any]:
    items = _items(value, function)
    if not items:
        raise NothingThere(f"`{function}` of an empty list")
    return items


def _string(value: Any, function: str) -> str:
    if isinstance(value, str):
        return value
    raise EvaluationError(f"`{function}` needs a text, not {short(value, 60)}")


def first(value: Any) -> Any:
    return _some(value, "first")[0]


def last(value: Any) -> Any:
    return _some(value, "last")[-1]


def count(value: Any) -> int:
    """Items of a list, members of an object, characters of a text."""
    if isinstance(value, list | dict | str):
        return len(value)
    raise EvaluationError(f"`count` needs a list, an object or a text, not {short(value, 60)}")


def number(value: Any) -> int | float:
    """The number a value is or a text holds: `1,234.50` and `EUR 12` are read; a text with none is an error."""
    found = as_number(value)
    if found is None and isinstance(value, str):
        found = number_in(value)
    if found is None:
        raise EvaluationError(f"there is no number in {short(value, 60)}")
    return found


def lines(value: Any) -> list[str]:
    """Lines of a text without the empty ones at its end; the lines of `read lines` as they are."""
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return _string(value, "lines").rstrip().splitlines()


def concat(*values: Any) -> list[Any]:
    return [item for value in values for item in _items(value, "concat")]


def join(value: Any, separator: Any = ", ") -> str:
    return _string(separator, "join").join(as_text(item) for item in _items(value, "join"))


def unique(value: Any) -> list[Any]:
    """Each item once, in the order of its first place."""
    seen: set[str] = set()
    kept: list[Any] = []
    for item in _items(value, "unique"):
        form = json.dumps(item, sort_keys=True)
        if form not in seen:
            seen.add(form)
            kept.append(item)
    return kept


def _order(value: Any) -> tuple[int, float, str]:
    found = None if isinstance(value, str) else as_number(value)
    return (1, 0.0, as_text(value)) if found is None else (0, float(found), "")


def ordered(value: Any) -> list[Any]:
    """Numbers by size, then everything else by its text."""
    return sorted(_items(value, "sorted"), key=_order)


def least(value: Any) -> Any:
    return min(_some(value, "min"), key=_order)


def greatest(value: Any) -> Any:
    return max(_some(value, "max"), key=_order)


def total(value: Any) -> int | float:
    found = [as_number(item) for item in _items(value, "sum")]
    numbers = [item for item in found if item is not None]
    if len(numbers) != len(found):
        raise EvaluationError(f"`sum` needs a list of numbers, not {short(value, 60)}")
    return sum(numbers)


def keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return list(value)
    raise EvaluationError(f"`keys` needs an object, not {short(value, 60)}")


def upper(value: Any) -> str:
    return _string(value, "upper").upper()


def lower(value: Any) -> str:
    return _string(value, "lower").lower()


def trim(value: Any) -> str:
    return _string(value, "trim").strip()


def from_json(value: Any) -> Any:
    """A text read as JSON; anything else is what it would be read as."""
    return json_value(value) if isinstance(value, str) else value


def plus_days(value: Any, days: Any) -> str:
    """An ISO date (or date and time) moved by whole days; the time stays."""
    match = _DAY.fullmatch(_string(value, "plus_days"))
    moved = as_number(days)
    if match is None or not isinstance(moved, int):
        raise EvaluationError(f"days are added to a date like 2026-03-01, not to {short(value, 60)}")
    try:
        day = datetime.date.fromisoformat(match[1]) + datetime.timedelta(days=moved)
    except (ValueError, OverflowError) as problem:
        raise EvaluationError(f"{short(value, 60)} cannot be moved by {moved} days: {problem}") from None
    return day.isoformat() + match[2]


def minus_days(value: Any, days: Any) -> str:
    moved = as_number(days)
    return plus_days(value, -moved if isinstance(moved, int) else days)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concat": concat,
    "count": count,
    "first": first,
    "join": join,
    "json": from_json,
    "keys": keys,
    "last": last,
    "lines": lines,
    "lower": lower,
    "max": greatest,
    "min": least,
    "minus_days": minus_days,
    "number": number,
    "plus_days": plus_days,
    "sorted": ordered,
    "sum": total,
    "text": as_text,
    "trim": trim,
    "unique": unique,
    "upper": upper,
}


def apply(name: str, arguments: list[Any]) -> Any:
    """Call a function of the language. Raises EvaluationError for an unknown one and for arguments that do not fit."""
    if name == "absent" and not arguments:
        return ABSENT
    function = FUNCTIONS.get(name)
    if function is None:
        raise EvaluationError(f"there is no function `{name}`")
    if any(argument is ABSENT for argument in arguments):
        raise EvaluationError(f"`{name}` cannot be used on absent()")
    try:
        found = function(*arguments)
    except TypeError:
        raise EvaluationError(f"`{name}` does not take {len(arguments)} argument(s) of this kind") from None
    if isinstance(found, str) and len(found) > MOST:
        raise EvaluationError(f"`{name}` gives a text of more than {MOST} characters")
    return found
