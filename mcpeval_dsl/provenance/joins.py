"""Provenance: values that the server asserted in pieces which belong together, and values that it took from the agent.

| what | asserted by |
| --- | --- |
| `dir/name` | a call about `dir` whose result has the entry `name` |
| `owner/repo#n` | one record that has each piece as a whole field |
| the destination of a write | its success: the server owes what it accepted |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.arguments import Reference
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.leaves import Hit
from mcpeval_dsl.provenance.roles import Role, role_of_argument, word_set, words

_SEPARATORS = re.compile(r"[/#:@]")
_TELLING = 20.0
_MAKING = word_set("create add new make insert register write upload save put store mkdir touch")
_MOVING = word_set("move rename copy mv cp")
_TARGETS = word_set("destination dest target new to")
_PLACES = word_set("path dir directory folder uri root")
_ENTRY = word_set("name path file filename entry entries files children item items")


@dataclass(frozen=True, slots=True)
class _Split:
    head: str
    tail: str


def wanted_pieces(form: str) -> Iterator[str]:
    """What must be looked for besides the value itself."""
    split = _split(form)
    if split is not None:
        yield split.tail
    yield from _fields(form)


def in_directory(provider: CallRecord, hits: Sequence[Hit], reference: Reference) -> bool:
    """The provider was asked about a directory and listed this name directly in it."""
    split = _split(reference.form)
    if split is None or not _is_path(reference):
        return False
    asked = (
        value for name, value in provider.arguments.items() if isinstance(value, str) and set(words(name)) & _PLACES
    )
    roots = {value.rstrip("/") for value in asked}
    return any(hit.form == split.tail and _is_entry(hit) and _above(hit, split.head) in roots for hit in hits)


def in_one_record(hits: Sequence[Hit], reference: Reference) -> bool:
    """Each piece of the value is a whole field of one and the same record."""
    parts = _fields(reference.form)
    if not parts:
        return False
    return any(hit.form == parts[-1] and hit.records and set(parts) <= _values(hit.records[-1].fields) for hit in hits)


def accepted(provider: CallRecord, reference: Reference, wanted: Role) -> bool:
    """A create took the value as the name of what it made, or a move as its destination."""
    said = set(words(provider.tool))
    moving = bool(said & _MOVING)
    if not moving and not said & _MAKING:
        return False
    for name, value in provider.arguments.items():
        if exact(value) != reference.form or (moving and not set(words(name)) & _TARGETS):
            continue
        role = role_of_argument(provider.tool, (name,))
        if moving and role.kind is None and wanted.kind == "path":
            return True
        if role.kind == wanted.kind == "path" or (role.kind == wanted.kind and role.nouns & wanted.nouns):
            return True
    return False


def target_forms(call: CallRecord) -> frozenset[str]:
    """Where a move put things: what it did not take away."""
    return frozenset(
        form
        for name, value in call.arguments.items()
        for form in (exact(value),)
        if form is not None and set(words(call.tool)) & _MOVING and set(words(name)) & _TARGETS
    )


def _split(form: str) -> _Split | None:
    head, slash, tail = form.rpartition("/")
    return _Split(head, tail) if slash and head and tail and "://" not in form else None


def _fields(form: str) -> tuple[str, ...]:
    parts = tuple(_SEPARATORS.split(form))
    telling = 2 <= len(parts) <= 6 and all(parts) and not all(part.isdigit() for part in parts)
    return parts if telling and bits(form) >= _TELLING and "://" not in form else ()


def _is_path(reference: Reference) -> bool:
    return role_of_argument("", reference.names).kind == "path" or bool(set(words(reference.names[-1])) & _PLACES)


def _is_entry(hit: Hit) -> bool:
    return hit.shape in ("line", "entry") or not hit.path or bool(set(words(hit.path[-1])) & _ENTRY)


def _above(hit: Hit, head: str) -> str | None:
    """The directory that was listed, were `head` where the entry lies: entries of a tree have those above them around them."""
    names = [form for record in hit.records[:-1] for form in (exact(record.fields.get("name")),) if form is not None]
    below = "".join(f"/{name}" for name in names)
    return head.removesuffix(below) if head.endswith(below) else None


def _values(fields: Mapping[str, Any]) -> set[str]:
    return {form for value in fields.values() for form in (exact(value),) if form is not None}
