"""Values, what `$` is: the structured content of what was read; else its text as JSON; else the text.

Two forms of a wrapper are opened, because many servers put their whole answer into one text member:
- structured content with a single member that holds the same text as the result itself, or is called `result`: `$` is that
  text (read as JSON where it is an object or a list);
- with `read json`, also a single text member that is itself JSON.
A text that is only a number or a quoted word stays text. `read` says otherwise for what a server prints in another form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.values.decode import Form, decoded, json_container
from mcpeval_dsl.values.model import Reading, ReadingFailed, Scope

SINGLE = "single"


def subject_of(reading: Reading, read: Form | None = None) -> Any:
    """`$` for this reading. Raises ReadingFailed where it could not be read, EvaluationError where `read` does not fit."""
    if reading.error is not None:
        raise ReadingFailed(reading.error, reading)
    if read is not None:
        return _read_as(plain_text(reading), read)
    if reading.has_structured:
        inner = _opened(reading.structured, reading.text)
        return reading.structured if inner is None else _parsed(inner)
    return _parsed(reading.text)


def value_of(reading: Reading, read: Form | None = None) -> Any:
    """The source as a value of its own: `$`, but the cell itself for an SQL result of one row and one column."""
    value = subject_of(reading, read)
    if reading.fields.get(SINGLE) and isinstance(value, list) and read is None:
        (row,) = value
        (cell,) = row.values()
        return cell
    return value


def plain_text(reading: Reading) -> str:
    """The text that regular expressions and `read` see: the result's own, or the one inside its wrapper."""
    inner = _opened(reading.structured, reading.text) if reading.has_structured else None
    if inner is not None:
        return inner
    return reading.text


def with_subject(scope: Scope, reading: Reading, read: Form | None = None) -> Scope:
    """The scope in which a harvest's or truth's bindings and requirements are evaluated."""
    return replace(scope, subject=subject_of(reading, read), has_subject=True, subject_text=plain_text(reading))


def field_of(reading: Reading, key: str | int, expression: Expression | None = None) -> Any:
    """A source's own part (`exit`, `stderr`, `status`); raises KeyError where it has none of that name."""
    if key in reading.fields and key != SINGLE:
        return reading.fields[str(key)]
    raise KeyError(key)


def _read_as(text: str, form: Form) -> Any:
    value = decoded(text, form)
    if form == "json" and isinstance(value, Mapping) and len(value) == 1:
        (member,) = value.values()
        inner = json_container(member) if isinstance(member, str) else None
        return value if inner is None else inner
    return value


def _opened(structured: Any, text: str) -> str | None:
    if not isinstance(structured, Mapping) or len(structured) != 1:
        return None
    ((name, member),) = structured.items()
    if not isinstance(member, str):
        return None
    return member if name == "result" or member.strip() == text.strip() else None


def _parsed(text: str) -> Any:
    value = json_container(text)
    return text if value is None else value
