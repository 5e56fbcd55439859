"""One harvest (or truth): read the source, open what it gave, bind values, check what is required."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.reading import is_source, with_readings
from mcpeval_dsl.semantics.expressions import Entry, Requirement, Source
from mcpeval_dsl.semantics.model import Harvest, Truth
from mcpeval_dsl.values.evaluate import condition, evaluate, reading_of
from mcpeval_dsl.values.model import EvaluationError, NothingThere, Reading, Scope, SourceReader
from mcpeval_dsl.values.subject import value_of, with_subject
from mcpeval_dsl.values.text import as_text


@dataclass(frozen=True, slots=True)
class Harvested:
    """`status` empty: it was read, and what was asked for is not there. `calls` are the ids of the calls behind it."""

    status: Literal["ok", "empty", "failed"]
    value: Any = None
    message: str = ""
    calls: tuple[str, ...] = ()


async def read_values(what: Harvest | Truth, scope: Scope, reader: SourceReader) -> Harvested:
    """Never raises for what the source does. `scope` holds all names the harvest may use."""
    calls: tuple[str, ...] = ()
    try:
        full = await with_readings([what.source], scope, reader)
        failed = next((reading for reading in full.readings.values() if reading.error is not None), None)
        calls = tuple(call for reading in full.readings.values() for call in reading.calls)
        if failed is not None:
            return Harvested("failed", message=failed.error or "", calls=calls)
        inner = _subject_scope(what, full)
        values: Any
        if what.bindings:
            values, inner = await _bind(what.bindings, inner, reader)
            nothing = next((f"`{name}` found nothing" for name, item in values.items() if item == []), "")
        else:
            values = value_of(_own(what, full), what.read) if is_source(what.source) else evaluate(what.source, full)
            inner = extended(inner, **{what.name: values})
            nothing = "the source gave nothing" if values in (None, [], {}, "") else ""
        found = Harvested("empty" if nothing else "ok", values, nothing, calls)
        return await _required(what.requires, inner, found, reader)
    except NothingThere as error:
        return Harvested("empty", message=error.reason, calls=calls)
    except EvaluationError as error:
        return Harvested("failed", message=error.reason)


def _own(what: Harvest | Truth, scope: Scope) -> Reading:
    return reading_of(cast(Source, what.source), scope)


def _subject_scope(what: Harvest | Truth, scope: Scope) -> Scope:
    """The scope of the block: `$` is what was read, and the source's own parts (`status`, `exit`) are names."""
    if is_source(what.source):
        reading = _own(what, scope)
        return extended(with_subject(scope, reading, what.read), **reading.fields)
    value = evaluate(what.source, scope)
    return replace(scope, subject=value, has_subject=True, subject_text=as_text(value))


async def _bind(bindings: Sequence[Entry], scope: Scope, reader: SourceReader) -> tuple[dict[str, Any], Scope]:
    values: dict[str, Any] = {}
    for entry in bindings:
        full = await with_readings([entry.value], scope, reader)
        values[entry.key] = evaluate(entry.value, full)
        scope = extended(scope, **{entry.key: values[entry.key]})
    return values, scope


async def _required(requires: Sequence[Requirement], scope: Scope, found: Harvested, reader: SourceReader) -> Harvested:
    for requirement in requires:
        full = await with_readings([requirement.condition], scope, reader)
        try:
            result = condition(requirement.condition, full)
        except EvaluationError as error:
            return replace(found, status="failed", message=f"a requirement could not be checked: {error.reason}")
        if not result.holds:
            reason = requirement.because or f"{result.actual} is not what was required ({result.expected})"
            return replace(found, status="empty" if found.status == "empty" else "failed", message=reason)
    return found
