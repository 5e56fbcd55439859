"""Grade, for `mcpe selftest`: an answer that is right made wrong in one place, always in the same way.

Another number, date or name in place of each value, an item left out, and the whole denied. Graders should reject each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.grade.solutions import Part, Solution
from mcpeval_dsl.values.text import as_text

MOST = 24
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DIGITS = re.compile(r"(?<!\d)\d{1,18}(?!\d)", re.ASCII)
_NAMES = ("Quillon Marsh", "Zephyrine", "Orrin Vale")


@dataclass(frozen=True, slots=True)
class Mutant:
    """`what` is the mutation; `denial`: all the right words are there, and the sentence says the contrary."""

    what: str
    answer: Answer
    denial: bool = False


def mutants(found: Solution) -> Iterator[Mutant]:
    """At most 24 of them, each different from the answer."""
    if found.form not in ("text", "data"):
        return
    right = found.answer()
    seen = {right.text}
    count = 0
    for mutant in _all(found, right):
        if mutant.answer.text not in seen and count < MOST:
            seen.add(mutant.answer.text)
            count += 1
            yield mutant


def _all(found: Solution, right: Answer) -> Iterator[Mutant]:
    for at, part in enumerate(found.parts):
        others = (*found.parts[:at], *found.parts[at + 1 :])
        if not found.keys and any(_within(part.value, other.value) for other in others):
            continue  # the answer gives the value at another place as well
        for what, value in other_values(part):
            parts = (*found.parts[:at], replace(part, value=value), *found.parts[at + 1 :])
            yield Mutant(f"{what}: {_short(part.value)} → {_short(value)}", replace(found, parts=parts).answer())
        if others:
            keys = found.keys[:at] + found.keys[at + 1 :] if found.keys else ()
            yield Mutant(f"dropped item: {_short(part.value)}", replace(found, parts=others, keys=keys).answer())
    if found.form == "text" and right.structured is None:
        denied = Answer("given", f"It is not the case that the answer is {right.text}.", None, True)
        yield Mutant("negation", denied, denial=True)


def _within(value: Any, other: Any) -> bool:
    return as_text(value).casefold() in as_text(other).casefold()


def other_values(part: Part) -> Iterator[tuple[str, Any]]:
    """Values of the same kind that are wrong, with what was done."""
    for what, value in _others(part.value, part.slack):
        if value not in part.among:
            yield what, value


def _others(value: Any, slack: float) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "negation", not value
    elif isinstance(value, int | float):
        step = 1 + 2 * slack
        yield "another number", value + (int(step) if isinstance(value, int) and step == int(step) else step)
    elif isinstance(value, str):
        yield from _other_texts(value, slack)
    elif isinstance(value, list) and value:
        yield "dropped item", value[:-1]
        for what, other in _others(value[0], slack):
            if other not in value:
                yield what, [other, *value[1:]]
    elif isinstance(value, dict):
        for key, inner in value.items():
            for what, other in _others(inner, slack):
                yield what, {**value, key: other}


def _other_texts(text: str, slack: float) -> Iterator[tuple[str, str]]:
    day = _DATE.search(text)
    if day is not None:
        later = _later(day)
        if later is not None:
            yield "another date", text[: day.start()] + later + text[day.end() :]
    digits = None if day is not None else _last(text)
    if digits is not None:
        number = int(digits[0])
        other = str(number + 1 + int(2 * slack * number))
        yield "another number", text[: digits.start()] + other + text[digits.end() :]
    if any(letter.isalpha() for letter in text) and day is None:
        yield "another name", next(name for name in _NAMES if name.lower() != text.lower())


def _later(day: re.Match[str]) -> str | None:
    try:
        return (date(int(day[1]), int(day[2]), int(day[3])) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return None


def _last(text: str) -> re.Match[str] | None:
    found = list(_DIGITS.finditer(text))
    return found[-1] if found else None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"
