"""Provenance: which arguments of a failing call does its error speak of?

Blame goes to the value quoted in the error, else to the argument whose noun the error names, else to all references
together. Never to booleans, paging, free text, values of the schema's own, or names of things being made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.provenance.roles import nouns_of, role_of_argument, word_set, words

_PAGING = frozenset({"page", "limit", "offset", "size", "count", "per", "top", "skip", "first", "last", "max"})
_FREE = word_set(
    "query q search text title body comment comments description message content note notes summary "
    "labels label reason subject prompt since until after before date amount bytes status state"
)
_PROGRAM = frozenset({"sql", "query", "code", "script", "statement", "expression", "command"})
_MAKING = frozenset({"create", "add", "new", "make", "insert", "register", "write"})
_NO_SUCH_TABLE = re.compile(r"no such table:? [\"'`]?([A-Za-z_][A-Za-z0-9_.$]*)")


@dataclass(frozen=True, slots=True)
class Reference:
    """One argument that names something. `pointer` is its JSON pointer; `names` the argument names on the way to it."""

    pointer: str
    names: tuple[str, ...]
    form: str
    scope: bool = False


def references(call: CallRecord, schema: Mapping[str, Any]) -> tuple[Reference, ...]:
    """All arguments that can name something; those whose value is the schema's own only say where (`scope`)."""
    return tuple(_references(call.arguments, schema, "", (), bool(_MAKING & set(words(call.tool)))))


def _references(value: Any, schema: Any, pointer: str, names: tuple[str, ...], making: bool) -> Iterator[Reference]:
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        for key, item in value.items():
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from _references(item, known.get(key), f"{pointer}/{step}", (*names, str(key)), making)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _references(item, schema.get("items"), f"{pointer}/{number}", names, making)
    else:
        form = exact(value)
        if form is not None and names and not _never(value, names[-1], making):
            yield Reference(pointer, names, form, _own_value(value, schema))


def _never(value: Any, name: str, making: bool) -> bool:
    said = set(words(name))
    if isinstance(value, float) and not value.is_integer():
        return True
    if said & _PAGING and "cursor" not in said:
        return True
    return bool(said & _FREE or (making and said & {"name", "title", "path", "filename"}))


def _own_value(value: Any, schema: Mapping[str, Any]) -> bool:
    enum = schema.get("enum")
    return (isinstance(enum, list) and value in enum) or ("default" in schema and schema["default"] == value)


def blamed(call: CallRecord, found: tuple[Reference, ...]) -> tuple[tuple[Reference, ...], bool]:
    """The references the error speaks of, and whether it names them (False: any of them may be to blame)."""
    message = call.error.message if call.error is not None else ""
    table = _table(call, message)
    if table is not None:
        return table, True
    found = tuple(r for r in found if not r.scope)
    quoted = tuple(r for r in found if _stands_in(r.form, message))
    if quoted:
        longest = max(len(r.form) for r in quoted)
        return tuple(r for r in quoted if len(r.form) == longest), True
    if _names_another(call, found, message):
        return (), True
    said = {singular for word in words(message) for singular in nouns_of(word)}
    named = tuple(r for r in found if said & role_of_argument(call.tool, r.names).nouns)
    return (named, False) if len(named) == 1 else (found, False)


def _names_another(call: CallRecord, found: tuple[Reference, ...], message: str) -> bool:
    """The error speaks of an argument that is no reference."""
    known = {r.names[0] for r in found}
    said = set(words(message))
    return any(
        (form is not None and len(form) > 1 and _stands_in(form, message)) or bool(set(words(name)) & said)
        for name, value in call.arguments.items()
        if name not in known
        for form in (exact(value),)
    )


def _table(call: CallRecord, message: str) -> tuple[Reference, ...] | None:
    """In a program only the identifier that the error names is a reference; none when it names none."""
    for name, value in call.arguments.items():
        if isinstance(value, str) and set(words(name)) & _PROGRAM and " " in value.strip():
            named = _NO_SUCH_TABLE.search(message)
            if named is None:
                return ()
            return (Reference(f"/{name}", ("table",), named[1]),) if named[1] in value else ()
    return None


def _stands_in(form: str, message: str) -> bool:
    start = message.find(form)
    while start >= 0:
        end = start + len(form)
        before = message[start - 1 : start] if start else ""
        after = message[end : end + 1]
        if not (before.isalnum() and form[0].isalnum()) and not (after.isalnum() and form[-1].isalnum()):
            return True
        start = message.find(form, start + 1)
    return False
