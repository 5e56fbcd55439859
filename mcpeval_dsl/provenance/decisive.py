"""Provenance: which arguments of a failing call does its error speak of?

Blame goes to the value quoted in the error, else to the argument whose noun the error names, else to all references
together. In a program it goes to the one identifier that the error names.
"""

from __future__ import annotations

import re

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.arguments import PROGRAM, Reference, is_program
from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.provenance.roles import nouns_of, role_of_argument, words

_NAME = r"[\"'`\[]?([A-Za-z_][A-Za-z0-9_.$]*)"
_NO_SUCH_TABLE = re.compile(rf"no such table:? {_NAME}|\btable {_NAME}[\"'`\]]? does(?: not|n't) exist", re.IGNORECASE)
_NO_SUCH_COLUMN = re.compile(
    rf"(?:no such|unknown) column:? {_NAME}|\bcolumn {_NAME}[\"'`\]]? does(?: not|n't) exist", re.IGNORECASE
)
_TABLES = re.compile(rf"\b(?:from|join|update|into)\s+{_NAME}", re.IGNORECASE)
# A word that no sentence has by chance: with a digit or a sign inside.
_TOKEN = re.compile(r"[A-Za-z0-9@._/-]+")
_TELLING = re.compile(r"[A-Za-z0-9.]*[@_/-][A-Za-z0-9@._/-]*|[A-Za-z]+[0-9]+")


def blamed(call: CallRecord, found: tuple[Reference, ...]) -> tuple[tuple[Reference, ...], bool]:
    """The references the error speaks of, and whether it names them (False: any of them may be to blame)."""
    message = call.error.message if call.error is not None else ""
    program = _in_program(call, message)
    if program is not None:
        return program, True
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
    spoken = _telling(message)
    if any(spoken & _telling(v) for n, v in call.arguments.items() if n not in known and isinstance(v, str)):
        return True
    return any(
        (form is not None and len(form) > 1 and _stands_in(form, message)) or bool(set(words(name)) & said)
        for name, value in call.arguments.items()
        if name not in known
        for form in (exact(value),)
    )


def _telling(text: str) -> set[str]:
    tokens = (token.strip(".-/_") for token in _TOKEN.findall(text))
    return {token for token in tokens if len(token) < 500 and _TELLING.fullmatch(token)}


def _in_program(call: CallRecord, message: str) -> tuple[Reference, ...] | None:
    """In a program only the identifier that the error names is a reference; none when it names none."""
    for name, value in call.arguments.items():
        said = set(words(name)) & PROGRAM
        if isinstance(value, str) and said and is_program(value, said):
            table, column = _NO_SUCH_TABLE.search(message), _NO_SUCH_COLUMN.search(message)
            if table is not None:
                named = table[1] or table[2]
                return (Reference(f"/{name}", ("table",), named),) if _stands_in(named, value) else ()
            if column is not None and len(tables_of(value)) == 1:
                named = (column[1] or column[2]).rpartition(".")[2]
                return (Reference(f"/{name}", ("column",), named),) if _stands_in(named, value) else ()
            return ()
    return None


def program_scope(call: CallRecord, about: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The table that a column of a program is asked of: it must be the one that the provider spoke of."""
    column = next((r for r in about if r.names == ("column",)), None)
    if column is None:
        return ()
    program = call.arguments.get(column.pointer[1:])
    return tuple(Reference(f"{column.pointer}#table", ("table",), name) for name in tables_of(str(program)))


def tables_of(program: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_TABLES.findall(program)))


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
