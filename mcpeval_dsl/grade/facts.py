"""Grade, the facts an answer states, as far as they can be recognised without understanding it.

Facts are: numbers (of two digits or more, with a decimal, or as data), dates, quoted texts, identifiers (letters with
digits, `-`, `_`, `/`, `@` or a dot inside), and names (a capitalised word that does not begin a sentence, with those after it).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.grade.dates import dates_in
from mcpeval_dsl.values.spelling import numbers_in, read_number
from mcpeval_dsl.values.text import as_text

Kind = Literal["number", "date", "text"]
MOST = 500
_QUOTED = re.compile(r"[\"“„]([^\"“”„\n]{2,200})[\"”“]|`([^`\n]{2,200})`|(?<!\w)['‘]([^'‘’\n]{2,80})['’](?!\w)")
_IDENTIFIER = re.compile(r"[\w][\w.@/:+-]*[\w]", re.UNICODE)
_NAME = re.compile(r"(?<![\w'’])([A-ZÄÖÜÀ-Þ][\w'’-]+(?: (?:(?:de|van|von|der|la|of) )?[A-ZÄÖÜÀ-Þ][\w'’-]*)*)")
_STARTS = re.compile(r"(?:^|[.!?:;\n\"“(*•|>-]\s*|\d[.)]\s+)$")
_COMMON = frozenset(
    ("i", "i'm", "i've", "i'll", "i'd", "ok", "yes", "no", "the", "a", "an", "mcp", "api", "json", "id", "url")
)


@dataclass(frozen=True, slots=True)
class Fact:
    """`number` has a JSON number as value, `date` an ISO date, `text` a text."""

    kind: Kind
    value: Any
    shown: str


def facts_of(answer: Any) -> list[Fact]:
    """Facts of an answer given as data (each leaf is one) or as text, each once, at most 500."""
    found: dict[tuple[str, Any], Fact] = {}
    for fact in _of_text(answer) if isinstance(answer, str) else _of_data(answer):
        found.setdefault((fact.kind, fact.value), fact)
        if len(found) >= MOST:
            break
    return list(found.values())


def _of_data(value: Any) -> Iterable[Fact]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _of_data(member)
    elif isinstance(value, list):
        for item in value:
            yield from _of_data(item)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, str):
        yield from _of_leaf(value)
    else:
        yield Fact("number", value, as_text(value))


def _of_leaf(value: str) -> Iterable[Fact]:
    """A text in data is one fact where it is short, else prose."""
    days = dates_in(value)
    number = read_number(value)
    if number is not None:
        yield Fact("number", number, value)
    elif len(days) == 1 and len(value) <= 40:
        yield Fact("date", days[0].isoformat(), value)
    elif value.strip() and len(value) <= 80:
        yield Fact("text", _folded(value), value)
    else:
        yield from _of_text(value)


def _of_text(text: str) -> Iterable[Fact]:
    for day in dates_in(text):
        yield Fact("date", day.isoformat(), day.isoformat())
    rest = text
    for match in _QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group is not None)
        yield Fact("text", _folded(quoted), quoted)
    rest = _QUOTED.sub(" ", rest)
    for match in _IDENTIFIER.finditer(rest):
        word = match[0]
        if _is_identifier(word):
            yield Fact("text", _folded(word), word)
    yield from _numbers(rest)
    for match in _NAME.finditer(rest):
        if not _STARTS.search(rest, max(0, match.start() - 6), match.start()) and _is_name(match[1]):
            yield Fact("text", _folded(match[1]), match[1])


def _numbers(text: str) -> Iterable[Fact]:
    without_ids = _IDENTIFIER.sub(lambda match: " " if _is_identifier(match[0]) else match[0], text)
    for number in numbers_in(without_ids):
        if abs(number) >= 10 or isinstance(number, float):
            yield Fact("number", number, as_text(number))


def _is_identifier(word: str) -> bool:
    if read_number(word) is not None or dates_in(word) or (word.count("-") + word.count("/") == 0 and word.isalpha()):
        return False
    letters = any(character.isalpha() for character in word)
    digits = any(character.isdigit() for character in word)
    return letters and (
        digits or "@" in word or "_" in word or "/" in word.strip("/") or re.search(r"\w\.\w", word) is not None
    )


def _is_name(words: str) -> bool:
    """Months and abbreviations (EUR, PDF) name nothing that would have to be looked up."""
    abbreviation = words.isupper() and len(words) <= 4
    return not abbreviation and words.casefold() not in _COMMON and not dates_in(f"1 {words} 2026")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


class Told:
    """What the agent was told, ready to be asked for facts: texts, numbers, dates and the lengths of lists."""

    def __init__(self, texts: Iterable[str], data: Iterable[Any] = ()) -> None:
        joined = "\n".join(texts)
        self.text = _folded(joined)
        self.dates = {day.isoformat() for day in dates_in(joined)}
        numbers = {float(number) for number in numbers_in(joined) if abs(number) < 1e300}
        self.lengths = {float(length) for value in data for length in _lengths(value)}
        self.numbers = numbers
        self._rounded: dict[int, set[float]] = {}

    def has(self, fact: Fact) -> bool:
        if fact.kind == "date":
            return fact.value in self.dates or self._has_date_text(fact.value)
        if fact.kind == "number":
            return self._has_number(fact.value, fact.shown)
        return _within(self.text, fact.value)

    def _has_date_text(self, iso: str) -> bool:
        return datetime.date.fromisoformat(iso).isoformat() in self.text

    def _has_number(self, number: int | float, shown: str) -> bool:
        """Also a number that was told with more places and is rounded here, and the number of items of a list."""
        if abs(number) >= 1e300:
            return shown in self.text
        value = float(number)
        if value in self.numbers or value in self.lengths or -value in self.numbers:
            return True
        places = len(shown.partition(".")[2]) if isinstance(number, float) else 0
        if places not in self._rounded:
            self._rounded[places] = {round(told, places) for told in self.numbers}
        return value in self._rounded[places] or _within(self.text, shown.casefold())


def _within(text: str, wanted: str) -> bool:
    """The wanted text, with no letter or digit glued to its ends."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before = start == 0 or not (text[start - 1].isalnum() and wanted[0].isalnum())
        after = end == len(text) or not (text[end].isalnum() and wanted[-1].isalnum())
        if before and after:
            return True
        start = text.find(wanted, start + 1)
    return False


def _lengths(value: Any) -> Iterable[int]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            yield len(item)
            todo.extend(item)
        elif isinstance(item, dict):
            todo.extend(item.values())
