"""Provenance: did the server itself assert that a value names something of the wanted kind, before it was asked for it?

Looked for on the wire of the same server: a leaf of a successful result or harvest in a fitting role, or an earlier
successful use as the same argument. Errors, echoes of a query, other servers, simulated and faulted calls do not vouch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.arguments import Reference
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.joins import accepted, in_directory, in_one_record
from mcpeval_dsl.provenance.leaves import Around, Hit, has_content
from mcpeval_dsl.provenance.roles import Role, names_a_person, relation, role_of_argument, role_of_field

_BITS_STRUCTURED = 24.0
_BITS_LINE = 24.0
_BITS_TOKEN = 64.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A failing call with the references it is about."""

    call: CallRecord
    blamed: tuple[Reference, ...]
    named: bool
    references: tuple[Reference, ...]
    position: int = 0


def vouches(provider: CallRecord, hits: Sequence[Hit], asked: Asked) -> bool:
    """Whether this provider vouches for everything that the error may be about."""
    if not asked.blamed:
        return False
    if not asked.named and len(asked.blamed) < sum(not reference.scope for reference in asked.references):
        return all(_vouched(provider, hits, reference, asked, strict=False) for reference in asked.blamed)
    return all(_vouched(provider, hits, reference, asked, strict=not asked.named) for reference in asked.blamed)


def _vouched(provider: CallRecord, hits: Sequence[Hit], reference: Reference, asked: Asked, strict: bool) -> bool:
    wanted = role_of_argument(asked.call.tool, reference.names)
    others = [r for r in asked.references if r.pointer != reference.pointer and not _beside(r, reference)]
    if _used_before(provider, reference, wanted) or accepted(provider, reference, wanted):
        # The others are held against their own providers; here they must only not be contradicted.
        return all(_scope(provider, (), other, asked, strict=False) for other in others)
    if in_directory(provider, hits, reference) or in_one_record(hits, reference):
        return all(_scope(provider, (), other, asked, strict) for other in others)
    if _echo(provider, reference):
        hits = [hit for hit in hits if len(hit.records) > 1 and len(hit.records[-1].fields) > 1]
    if reference.names == ("column",) and any(r.form in _texts(provider) for r in others if r.names == ("table",)):
        # What a description of a table names are its columns.
        hits = [hit for hit in hits if hit.path and role_of_field(provider.tool, hit.path).kind == "name"]
        return any(hit.form == reference.form for hit in hits)
    return any(
        hit.form == reference.form
        and (_strong(provider, hit, wanted) or _whole_record(hit, reference, others))
        and all(_scope(provider, hit.records, other, asked, strict) for other in others)
        for hit in hits
    )


def _texts(provider: CallRecord) -> set[str]:
    return {value for value in provider.arguments.values() if isinstance(value, str)}


def _beside(one: Reference, other: Reference) -> bool:
    """Items of one list are independent of each other."""
    return one.names == other.names


def _strong(provider: CallRecord, hit: Hit, wanted: Role) -> bool:
    if hit.shape in ("line", "entry"):
        return bits(hit.form) >= _BITS_LINE and wanted.kind in (None, "path", "name")
    if hit.shape == "token":
        return bits(hit.form) >= _BITS_TOKEN and wanted.kind in (None, "hash", "id")
    field = role_of_field(provider.tool, hit.path)
    found = relation(wanted, field)
    if names_a_person(wanted, field, hit.form) and bits(hit.form) >= _BITS_STRUCTURED:
        return True
    return found == "match" or (found == "unclear" and bits(hit.form) >= _BITS_STRUCTURED)


def _whole_record(hit: Hit, reference: Reference, others: Sequence[Reference]) -> bool:
    """All arguments stand in one record under their own names: `owner`, `repo` and `number` of one hit."""
    if len(others) < 2 or not hit.records or not hit.path or hit.path[-1] != reference.names[-1]:
        return False
    fields = hit.records[-1].fields
    return all(exact(fields.get(other.names[-1])) == other.form for other in others)


def _used_before(provider: CallRecord, reference: Reference, wanted: Role) -> bool:
    """A successful use with a result that says something."""
    for name, value in provider.arguments.items():
        role = role_of_argument(provider.tool, (name,))
        if exact(value) == reference.form and role.nouns & wanted.nouns and role.kind == wanted.kind:
            return has_content(provider)
    return False


def _echo(provider: CallRecord, reference: Reference) -> bool:
    return any(isinstance(value, str) and reference.form in value for value in provider.arguments.values())


def _scope(provider: CallRecord, records: Sequence[Around], other: Reference, asked: Asked, strict: bool) -> bool:
    """Whether the rest of the call agrees with what stood around the value; `strict` also wants it to have stood there."""
    role = role_of_argument(asked.call.tool, other.names)
    around = [(record.path, record.fields) for record in records]
    said = [
        exact(value)
        for path, fields in [*around, ((), provider.arguments)]
        for name, value in fields.items()
        if name == other.names[-1] or _same_thing(role, role_of_field(provider.tool, (*path, str(name))))
    ]
    known = [form for form in said if form is not None]
    return other.form in known or (not known and not strict)


def _same_thing(role: Role, field: Role) -> bool:
    return bool(role.nouns & field.nouns) and relation(role, field) == "match"
