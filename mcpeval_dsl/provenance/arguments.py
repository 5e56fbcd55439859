"""Provenance: the arguments of a call, leaf by leaf, and which of them can name something at all.

Never booleans, paging, free text, or names of things being made; values of the schema's own only say where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.provenance.roles import word_set, words

_PAGING = frozenset({"page", "limit", "offset", "size", "count", "per", "top", "skip", "first", "last", "max"})
_FREE = word_set(
    "query q search text title body comment comments description message content note notes summary "
    "labels label reason subject prompt since until after before date amount bytes status state"
)
PROGRAM = frozenset({"sql", "query", "code", "script", "statement", "expression", "command"})
_MAKING = frozenset({"create", "add", "new", "make", "insert", "register", "write"})
_STATEMENT = re.compile(
    r"\s*(?:select|insert|update|delete|with|create|drop|alter|pragma|match|explain)\b", re.IGNORECASE
)
_KEYS = word_set("id ids uuid guid key keys number no iid path url uri slug sha hash cursor token email")
_QUANTITIES = word_set(
    "amount bytes size total price cost sum count limit quantity weight duration seconds minutes days"
)
_TIMES = word_set("since until after before date day time start end from to month year week")

_FETCHING = frozenset({"get", "read", "show", "open", "fetch", "describe", "view", "load", "delete", "remove"})
_LOOKING = frozenset({"search", "find", "list", "query", "suggest"})
_OPAQUE = frozenset({"cursor", "token"})


@dataclass(frozen=True, slots=True)
class Reference:
    """One argument that names something. `pointer` is its JSON pointer; `names` the argument names on the way to it."""

    pointer: str
    names: tuple[str, ...]
    form: str
    scope: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """One leaf of a call's arguments, whatever it is. `worked_out`: a quantity, page or time, which an agent may compute."""

    tool: str
    pointer: str
    names: tuple[str, ...]
    value: Any
    form: str | None
    own_value: bool = False
    program: bool = False
    free_text: bool = False
    worked_out: bool = False

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What is asked for as what: the same in every call that repeats it."""
        return (self.tool, self.names, self.form or "")


def references(call: CallRecord, schema: Mapping[str, Any]) -> tuple[Reference, ...]:
    """All arguments that can name something; those whose value is the schema's own only say where (`scope`)."""
    making = bool(_MAKING & set(words(call.tool)))
    return tuple(
        Reference(pointer, names, form, _own_value(value, own))
        for pointer, names, value, own in _leaves(call.arguments, schema, "", ())
        for form in (exact(value),)
        if form is not None and names and not _never(value, names[-1], making, set(words(call.tool)))
    )


def _never(value: Any, name: str, making: bool, tool: set[str]) -> bool:
    said = set(words(name))
    if isinstance(value, float) and not value.is_integer():
        return True
    if said & _PAGING and not said & _OPAQUE:
        return True
    return not _names_something(said, tool) or bool(making and said & {"name", "title", "path", "filename"})


def arguments(call: CallRecord, schema: Mapping[str, Any]) -> tuple[Argument, ...]:
    """Every leaf of the arguments, in order."""
    return tuple(_argument(call.tool, *leaf) for leaf in _leaves(call.arguments, schema, "", ()))


def _argument(tool: str, pointer: str, names: tuple[str, ...], value: Any, schema: Mapping[str, Any]) -> Argument:
    said = set(words(names[-1])) if names else set()
    program = isinstance(value, str) and bool(said & PROGRAM) and is_program(value, said & PROGRAM)
    paging = bool(said & _PAGING) and not said & _OPAQUE
    worked_out = paging or (bool(said & (_QUANTITIES | _TIMES)) and not said & _KEYS)
    return Argument(
        tool=tool,
        pointer=pointer,
        names=names,
        value=value,
        form=exact(value),
        own_value=_own_value(value, schema),
        program=program,
        free_text=not _names_something(said, set(words(tool))),
        worked_out=worked_out or (isinstance(value, float) and not value.is_integer()),
    )


_Leaf = tuple[str, tuple[str, ...], Any, Mapping[str, Any]]


def _leaves(value: Any, schema: Any, pointer: str, names: tuple[str, ...]) -> Iterator[_Leaf]:
    """Pointer, argument names on the way, value and own schema of each leaf."""
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        for key, item in value.items():
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from _leaves(item, known.get(key), f"{pointer}/{step}", (*names, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _leaves(item, schema.get("items"), f"{pointer}/{number}", names)
    else:
        yield pointer, names, value, schema


def _names_something(said: set[str], tool: set[str]) -> bool:
    """A `message` is a text, a `message_id` names one; a `title` names what a tool gets, and is text to one that searches."""
    free = said & _FREE
    if free == {"title"} and tool & _FETCHING and not tool & _LOOKING:
        return True
    return not free or bool(said & _KEYS)


def is_program(value: str, said: set[str]) -> bool:
    """A `query` may also be words to search for."""
    return " " in value.strip() and (bool(said - {"query"}) or _STATEMENT.match(value) is not None)


def _own_value(value: Any, schema: Mapping[str, Any]) -> bool:
    enum = schema.get("enum")
    return (isinstance(enum, list) and value in enum) or ("default" in schema and schema["default"] == value)
