"""Values, numbers as people write them: `1,234.50`, `1.234,56`, `€ 1 234,5`, `12%`.

Where both marks stand in a number, the last one is the decimal mark. A single mark followed by exactly three
digits groups thousands when it is a comma (`1,234` is 1234) and is the decimal mark when it is a point (`1.234`).
A `format` names the marks and ends all doubt: in `€ 1.234,56` the comma is the decimal mark.
"""

from __future__ import annotations

import re

from mcpeval_dsl.frozen import dataclass

_WIDE = "\u00a0\u202f\u2009"
_SPACES = f"{_WIDE} "


def _pattern(between: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:[{between}]\d{{3}})+(?!\d)"
    return re.compile(
        rf"(?<![\w.,])(?<![A-Za-z]-)[-+\u2212]?(?:{grouped}|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d{{1,3}})?(?!\d)", re.ASCII
    )


_NUMBER = _pattern(f".,'{_WIDE}")
_SPACED = _pattern(_SPACES)


@dataclass(frozen=True, slots=True)
class Marks:
    """The decimal mark ('' when there is none) and the mark between thousands ('' when there is none)."""

    decimal: str
    thousands: str


def marks_of(format: str) -> Marks | None:
    """The marks in a sample such as `€ 1.234,56`; None where the sample holds no number."""
    match = re.search(r"\d(?:[\d.,' \u00a0\u202f\u2009]*\d)?", format)
    if match is None:
        return None
    found = [character for character in match[0] if not character.isdigit()]
    if not found:
        return Marks("", "")
    if len(set(found)) == 1:
        last_part = match[0].rpartition(found[0])[2]
        grouped = len(found) > 1 or found[0] in f"'{_SPACES}" or (found[0] == "," and len(last_part) == 3)
        return Marks("", found[0]) if grouped else Marks(found[0], "")
    return Marks(found[-1], found[0])


def numbers_in(text: str, marks: Marks | None = None) -> list[int | float]:
    """Every number written in a text, in order; years, dates and versions give their parts."""
    found = (read_number(match[0], marks) for match in _written(marks).finditer(text))
    return [number for number in found if number is not None]


def number_in(text: str, marks: Marks | None = None) -> int | float | None:
    """The first number written in a text."""
    for match in _written(marks).finditer(text):
        number = read_number(match[0], marks)
        if number is not None:
            return number
    return None


def _written(marks: Marks | None) -> re.Pattern[str]:
    """A plain space groups digits only where a format says so: `rooms 12 345` are two numbers."""
    return _SPACED if marks is not None and marks.thousands == " " else _NUMBER


def read_number(written: str, marks: Marks | None = None) -> int | float | None:
    """One number as people write it; None for anything else."""
    text = written.strip().replace("\u2212", "-").lstrip("+")
    chosen = marks or _guessed(text)
    if chosen.thousands:
        text = text.replace(chosen.thousands, "")
        if chosen.thousands in _SPACES:
            text = re.sub(f"[{_SPACES}]", "", text)
    if chosen.decimal:
        text = text.replace(chosen.decimal, ".")
    if not re.fullmatch(r"-?\d{1,300}(?:\.\d+)?(?:[eE][-+]?\d{1,3})?", text, re.ASCII):
        return None
    return int(text) if text.lstrip("-").isdigit() else _finite(text)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if abs(number) < float("inf") else None


def _guessed(text: str) -> Marks:
    commas, points = text.count(","), text.count(".")
    spaces = next((character for character in text if character in f"'{_SPACES}"), "")
    if commas and points:
        return Marks(",", ".") if text.rfind(",") > text.rfind(".") else Marks(".", ",")
    if spaces:
        return Marks("," if commas else ".", spaces)
    if commas > 1:
        return Marks("", ",")
    if points > 1:
        return Marks("", ".")
    if commas:
        return Marks("", ",") if len(text.rpartition(",")[2]) == 3 else Marks(",", "")
    return Marks(".", "")
