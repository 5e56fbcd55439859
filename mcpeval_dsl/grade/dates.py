"""Grade, normalisation: dates as people write them, as far as they mean one day only.

ISO dates, `2026/03/01`, `1.3.2026`, `1 March 2026` and `March 1, 2026` are read; of `03/01/2026` only what cannot be
misread (a part above 12). A `format` such as "DD/MM/YYYY" adds its own form and ends the doubt.
"""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_TOKENS = {
    "YYYY": r"(?P<y>\d{4})",
    "YY": r"(?P<y>\d{2})",
    "MMMM": rf"(?P<n>{_LONG})\.?",
    "MMM": rf"(?P<n>{_LONG})\.?",
    "MM": r"(?P<m>\d{1,2})",
    "M": r"(?P<m>\d{1,2})",
    "DD": r"(?P<d>\d{1,2})",
    "D": r"(?P<d>\d{1,2})",
}
_TOKEN = re.compile("YYYY|YY|MMMM|MMM|MM|M|DD|D")
_FORMS = tuple(
    re.compile(rf"(?<![\w./-]){form}(?![\w/-])(?!\.\d)", re.ASCII | re.IGNORECASE)
    for form in (
        r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
        r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})",
        r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<n>{_LONG})\.?,?\s+(?P<y>\d{{4}})",
        rf"(?P<n>{_LONG})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})",
    )
)


def is_date_format(format: str) -> bool:
    """`YYYY/MM/DD` and the like; a sample of a number is none."""
    return "YY" in format and "M" in format and "D" in format


@lru_cache(maxsize=256)
def _form(format: str) -> re.Pattern[str]:
    parts: list[str] = []
    position = 0
    seen: set[str] = set()
    for match in _TOKEN.finditer(format):
        if match[0][0] in seen:
            continue
        seen.add(match[0][0])
        parts += [re.escape(format[position : match.start()]), _TOKENS[match[0]]]
        position = match.end()
    return re.compile(rf"(?<![\w])(?:{''.join(parts)}{re.escape(format[position:])})(?!\d)", re.ASCII | re.IGNORECASE)


def dates_in(text: str, format: str | None = None) -> list[datetime.date]:
    """Every date in a text, in order; what one form has read is no longer there for the next."""
    forms = (*((_form(format),) if format and is_date_format(format) else ()), *_FORMS)
    found: list[tuple[int, datetime.date]] = []

    def take(match: re.Match[str]) -> str:
        day = _day(match)
        if day is None:
            return match[0]
        found.append((match.start(), day))
        return "\n" * len(match[0])

    for form in forms:
        text = form.sub(take, text)
    return [day for _, day in sorted(found)]


def date_of(text: str, format: str | None = None) -> datetime.date | None:
    """The date a text is (or the only one in it); None for none or several."""
    found = set(dates_in(text, format))
    return found.pop() if len(found) == 1 else None


def _day(match: re.Match[str]) -> datetime.date | None:
    parts = match.groupdict()
    year = int(parts["y"])
    if len(parts["y"]) == 2:
        year += 2000 if year < 70 else 1900
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        if first == second or first > 12:
            day, month = first, second
        elif second > 12:
            day, month = second, first
        else:
            return None
    else:
        month = _MONTHS.index(parts["n"][:3].lower()) + 1 if parts.get("n") else int(parts["m"])
        day = int(parts["d"])
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None
