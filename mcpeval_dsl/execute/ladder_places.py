"""Execution, for replays: where in a result a value stood, and what stands there in another result of the same call.

A value is never taken over from the trial: it is bound again by its place, since ids may be new in each environment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.execute.world import reading_of_call
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.provenance.leaves import parse
from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.subject import subject_of

OPENED = None
"""A step into a text that is itself JSON or a Python literal."""

_DEEPEST = 60
_WORD = re.compile(r"[^\s,;()\[\]{}\"'`<>]+")


@dataclass(frozen=True, slots=True)
class Place:
    """`steps` lead through keys, indexes and opened texts; `line` and `word` (from 0) into a plain text, where it is one."""

    steps: tuple[str | int | None, ...] = ()
    line: int | None = None
    word: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The field names above the value."""
        return tuple(step for step in self.steps if isinstance(step, str))


def places(call: CallRecord, wanted: Collection[str]) -> dict[str, list[Place]]:
    """Where each of the wanted forms stands in the result of a call that succeeded; one walk."""
    found: dict[str, list[Place]] = {}
    for form, place in _walk(subject(call), wanted, ()):
        found.setdefault(form, []).append(place)
    return found


def at(call: CallRecord, place: Place) -> str | None:
    """The form of what stands at a place of this result; None where nothing does."""
    value = subject(call)
    for step in place.steps:
        if step is OPENED:
            value = parse(value) if isinstance(value, str) else None
        elif isinstance(step, str):
            value = value.get(step) if isinstance(value, Mapping) else None
        else:
            value = value[step] if isinstance(value, list | tuple) and -len(value) <= step < len(value) else None
        if value is None:
            return None
    if place.line is not None:
        return _in_text(value, place) if isinstance(value, str) else None
    return exact(value)


def holds(call: CallRecord, form: str) -> bool:
    """Whether the value still stands anywhere in the result."""
    return any(True for _ in _walk(subject(call), {form}, ()))


def subject(call: CallRecord) -> Any:
    """What `$` is for this result; None for a call that failed."""
    try:
        return subject_of(reading_of_call(call))
    except EvaluationError:
        return None


def _in_text(text: str, place: Place) -> str | None:
    lines = text.splitlines()
    if place.line is None or place.line >= len(lines):
        return None
    line = lines[place.line]
    if place.word is None:
        return exact(line.strip())
    words = _WORD.findall(line)
    return exact(words[place.word]) if place.word < len(words) else None


def _walk(value: Any, wanted: Collection[str], steps: tuple[str | int | None, ...]) -> Iterator[tuple[str, Place]]:
    if len(steps) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, wanted, (*steps, str(key)))
        return
    if isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _walk(item, wanted, (*steps, number))
        return
    form = exact(value)
    if form is not None and form in wanted:
        yield form, Place(steps)
    elif isinstance(value, str) and len(value) > 2:
        inner = parse(value)
        if inner is not None:
            yield from _walk(inner, wanted, (*steps, OPENED))
        elif not steps or steps == (OPENED,):
            yield from _lines(value, wanted, steps)


def _lines(text: str, wanted: Collection[str], steps: tuple[str | int | None, ...]) -> Iterator[tuple[str, Place]]:
    for number, line in enumerate(text.splitlines()):
        form = line.strip()
        if form in wanted:
            yield form, Place(steps, number)
            continue
        for position, word in enumerate(_WORD.findall(line)):
            if word in wanted:
                yield word, Place(steps, number, position)
