"""Grade, before comparing: two answers made comparable, only in the ways that the spec names.

Without any, texts are compared by character, apart from blanks at their ends and the composition of accents. A point or
comma between digits and a sign before one are no punctuation: `1.5` never equals `15`, nor `-5` the number 5.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from mcpeval_dsl.grade.dates import date_of, is_date_format
from mcpeval_dsl.semantics.graders import Normalisation
from mcpeval_dsl.values.compare import Tolerance, equal
from mcpeval_dsl.values.decode import json_value
from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.numbers import is_number
from mcpeval_dsl.values.spelling import Marks, marks_of, number_in, read_number

PLAIN = Normalisation()
_CURRENCY = re.compile(r"^[^\d\-+\u2212]{0,8}(?=[\d\-+\u2212])|(?<=\d)[^\d]{0,8}$")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)


class Unreadable(EvaluationError):
    """A value cannot be read in the way the spec names (as a date, a number, JSON, groups)."""


def text(value: str, ignore: tuple[str, ...] = ()) -> str:
    """A text without what is ignored: case, whitespace, punctuation, commas."""
    found = unicodedata.normalize("NFC", value).strip()
    if "case" in ignore:
        found = found.casefold()
    if "commas" in ignore:
        found = found.replace(",", "")
    if "punctuation" in ignore:
        found = " ".join(_without_punctuation(found).split())
    if "whitespace" in ignore:
        found = "".join(found.split())
    return found


def _without_punctuation(value: str) -> str:
    kept: list[str] = []
    last = len(value) - 1
    for position, character in enumerate(value):
        if unicodedata.category(character)[0] not in "PS":
            kept.append(character)
            continue
        after = position < last and value[position + 1].isdigit()
        before = position > 0 and value[position - 1].isalnum()
        if after and ((character in ".,:" and before) or (character in "-\u2212" and not before)):
            kept.append(character)
    return "".join(kept)


def comparable(value: Any, how: Normalisation) -> Any:
    """The value in the form in which it is compared. Raises Unreadable where it cannot be read as the spec names."""
    reading = how.reading or _implied(how.format)
    if reading == "json" and isinstance(value, str):
        value = from_json(value)
    if reading == "groups":
        return groups(value, how)
    return _each(value, how, reading)


def _implied(format: str | None) -> str | None:
    if format is None:
        return None
    return "date" if is_date_format(format) else "number"


def _each(value: Any, how: Normalisation, reading: str | None) -> Any:
    if isinstance(value, list):
        items = [_each(item, how, reading) for item in value]
        return sorted(items, key=_canonical) if how.unordered else items
    if isinstance(value, dict):
        return {key: _each(item, how, reading) for key, item in value.items()}
    if reading == "date":
        return date(value, how.format)
    if reading == "number":
        return number(value, marks(how))
    return text(value, how.ignore) if isinstance(value, str) else value


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same(actual: Any, expected: Any, how: Normalisation) -> bool:
    """Equality after normalisation. A text that cannot be read as named is not equal to one that can.

    Raises Unreadable where the expected value itself cannot be read so.
    """
    wanted = comparable(expected, how)
    try:
        found = comparable(actual, how)
    except Unreadable:
        return False
    return equal(found, wanted, tolerance(how))


def tolerance(how: Normalisation) -> Tolerance | None:
    return None if how.numbers_within is None else Tolerance(how.numbers_within, percent=True)


def date(value: Any, format: str | None = None) -> str:
    """A date as ISO text. Raises Unreadable for none, or for several in one text."""
    found = date_of(value, format) if isinstance(value, str) else None
    if found is None:
        raise Unreadable(f"{str(value)[:60]!r} is no date that could be read in one way only")
    return found.isoformat()


def marks(how: Normalisation) -> Marks | None:
    """Decimal and thousands marks, where `format` is a sample of a number."""
    return None if how.format is None or is_date_format(how.format) else marks_of(how.format)


def number(value: Any, form: Marks | None = None) -> int | float:
    """A number, or the one in a text. Raises Unreadable."""
    if is_number(value):
        plain: int | float = value
        return plain
    found = None
    if isinstance(value, str):
        found = whole_number(value, form)
        if found is None:
            found = number_in(value, form)
    if found is None:
        raise Unreadable(f"{str(value)[:60]!r} is no number")
    return found


def whole_number(value: str, form: Marks | None = None) -> int | float | None:
    """The number a text is, apart from a currency or unit around it; None for prose."""
    bare = value.strip().strip("*_`'\"").rstrip(".!")
    if len(bare) > 60:
        return None
    return read_number(_CURRENCY.sub("", bare, count=2), form)


def from_json(value: str) -> Any:
    """A text as JSON, also from within a code fence. Raises Unreadable."""
    fences = _FENCE.findall(value)
    candidates = [value, *(fences if len(fences) == 1 else [])]
    for candidate in candidates:
        try:
            return json_value(candidate.strip())
        except EvaluationError:
            continue
    raise Unreadable("the answer is no JSON")


def groups(value: Any, how: Normalisation) -> list[Any]:
    """Groups of items, neither ordered: a list of lists, or a text with one group a line (`name: a, b, c`)."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, str):
        lines = [line for line in value.splitlines() if line.strip()]
        value = [line.rpartition(":")[2].split(",") for line in lines]
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise Unreadable("the answer is no list of groups")
    ordered = [sorted((_item(item, how) for item in group), key=_canonical) for group in value]
    return sorted(ordered, key=_canonical)


def _item(item: Any, how: Normalisation) -> Any:
    return text(item, how.ignore) if isinstance(item, str) else item
