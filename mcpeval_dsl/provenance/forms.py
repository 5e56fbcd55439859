"""Provenance, first step: when are two values the same one, and how much would it mean if they met by chance?

`exact` is the one form that vouches. The looser forms say only where an agent may have had a value from.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote, unquote

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_PLACEHOLDER = re.compile(r"\[?(?:redacted|secret|hidden|masked)[^\]]*\]?|\*{3,}|x{4,}", re.IGNORECASE)
# Only letters and digits of ASCII stay, in lower case: a table is ten times as fast as a pattern.
_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
_APART = re.compile(r"[\W_]+")
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[ .-](?=[0-9])")
_PIECES = re.compile(r"[/#?&=:@,\s]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH = "|".join(rf"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_DATES = re.compile(
    r"(?<![0-9])(?P<y>[12][0-9]{3})-(?P<m>[01]?[0-9])-(?P<d>[0-3]?[0-9])(?![0-9])"
    r"|(?<![0-9])(?P<d2>[0-3]?[0-9])\.(?P<m2>[01]?[0-9])\.(?P<y2>[12][0-9]{3})(?![0-9])"
    rf"|\b(?P<n3>{_MONTH})\.? (?P<d3>[0-3]?[0-9])(?:st|nd|rd|th)?,? (?P<y3>[12][0-9]{{3}})\b"
    rf"|\b(?P<d4>[0-3]?[0-9])(?:st|nd|rd|th)? (?P<n4>{_MONTH})\.?,? (?P<y4>[12][0-9]{{3}})\b",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")
_MOST_PIECES = 12


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


def loose(text: str) -> str:
    """Words in lower case with one space between them: what case, Unicode form, decoration and slugs leave alike."""
    if text.isascii():
        return " ".join(text.encode("ascii").translate(_WORDS).decode("ascii").split())
    return " ".join(_APART.split(unicodedata.normalize("NFKC", text).casefold())).strip()


def grouped_digits(text: str) -> str:
    """A text with the digits of each number together: `4400 1122` as `44001122`."""
    return _BETWEEN_DIGITS.sub("", text)


def decoded(form: str) -> Iterator[str]:
    """What a value may be an encoding of, or may have been encoded as: percent, base64."""
    plain = unquote(form)
    if plain != form:
        yield plain
    coded = quote(form, safe="/:?#&=@")
    if coded != form and form.isascii():
        yield coded
    if _BASE64.fullmatch(form) and len(form) % 4 == 0:
        try:
            inner = base64.b64decode(form, altchars=b"-_", validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            return
        if len(inner) >= 4 and inner.isprintable():
            yield inner


def formatted(value: Any) -> Iterator[str]:
    """A number as people write it: thousands apart, two places."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return
    if isinstance(value, int) and abs(value) >= 1000:
        yield f"{value:,}"
        yield f"{value:,}".replace(",", ".")
    if abs(value) < 1e15:
        english = f"{value:,.2f}"
        yield english
        yield english.translate(str.maketrans(",.", ".,"))


_SELECTOR = re.compile(
    r"(.{2,400})(?:!\$?[A-Z]{1,3}\$?\d*(?::\$?[A-Z]{1,3}\$?\d*)?|#[\w.-]{1,100}|:\d{1,7}(?:[-:]\d{1,7})?)", re.DOTALL
)


def pieces(form: str) -> tuple[str, ...]:
    """The parts of a value that was put together: of a path, a reference `owner/repo#n`, an address."""
    found = tuple(piece for piece in _PIECES.split(form) if piece)
    return found if 2 <= len(found) <= _MOST_PIECES else ()


def selected(form: str) -> str | None:
    """What a value speaks of, without the part of it that it picks: cells of a sheet, lines of a file, a place on a page."""
    found = _SELECTOR.fullmatch(form)
    return found[1] if found is not None else None


def dates(text: str) -> Iterator[date]:
    """Every calendar date written in a text, in any of four ways."""
    for found in _DATES.finditer(text):
        named = {name.rstrip("234"): part for name, part in found.groupdict().items() if part is not None}
        month = _MONTHS_BY_START[named["n"][:3].lower()] if "n" in named else int(named["m"])
        try:
            yield date(int(named["y"]), month, int(named["d"]))
        except ValueError:
            continue


def date_of(form: str) -> date | None:
    """The date that a value is, also as seconds or milliseconds since 1970."""
    if _EPOCH.fullmatch(form):
        return datetime.fromtimestamp(int(form[:10]), UTC).date()
    found = next(dates(form), None) if len(form) <= 40 else None
    return found


_MONTHS_BY_START = {month[:3]: number for number, month in enumerate(_MONTHS, start=1)}
