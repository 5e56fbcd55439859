"""Language server, index: the names that may be written at a place, each with where it is defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mcpeval_dsl.language_server.index.model import Key
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import Site, around, definitions, too_large
from mcpeval_dsl.language_server.index.scopes import Scope
from mcpeval_dsl.language_server.index.values import name_keys
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives.variables import VARIABLES, Variable


class Known(NamedTuple):
    """A name in scope. `fields` is the key whose fields it has; `near` that this very part defines it."""

    name: str
    kind: str
    key: Key
    fields: Key
    site: Site | None = None
    near: bool = False


def of_kinds(snapshot: Snapshot, spaces: Iterable[str]) -> list[Known]:
    """All names of these spaces or kinds, those of the file first."""
    spaces = tuple(spaces)
    wanted = {key[0] for key in name_keys(spaces, "")}
    narrow = () if "value" in spaces else spaces
    found: dict[Key, Known] = {}
    for file in around(snapshot):
        for key, sites in definitions(file).items():
            if key[0] == "value" and narrow and sites[0].definition.kind not in narrow:
                continue
            if key[0] in wanted and key not in found:
                found[key] = Known(sites[0].definition.name, sites[0].definition.kind, key, key, sites[0])
    return list(found.values())


def values(snapshot: Snapshot, part: Part, offset: int) -> list[Known]:
    """All names that a value at an offset may use: those near it first."""
    scope = index(part.body).scope_at(offset - part.start)
    found = {known.name: known for known in _local(snapshot, part, scope)}
    for known in of_kinds(snapshot, ("value", "environment")):
        if not (known.key[0] == "environment" and not has_fields(snapshot, known.key)):
            found.setdefault(known.name, known)
    return list(found.values())


def _local(snapshot: Snapshot, part: Part, scope: Scope) -> Iterator[Known]:
    own = {d.key: d for d in index(part.body).definitions}
    for name, (key, fields) in scope.visible().items():
        definition = own.get(key)
        site = None if definition is None else Site(snapshot, part, definition)
        yield Known(name, definition.kind if definition else "binding", key, fields, site, True)


def variables(kinds: Iterable[str]) -> list[Variable]:
    """The names that are there without being declared, in blocks of these kinds."""
    around_here = set(kinds)
    return [v for v in VARIABLES if not v.blocks or around_here.intersection(v.blocks)]


def fields(snapshot: Snapshot, part: Part, owner: Key) -> list[Known]:
    """The fields that a definition is known to have."""
    found: dict[Key, Known] = {}
    for definition in index(part.body).definitions:
        if _field_of(definition.key, owner):
            site = Site(snapshot, part, definition)
            found[definition.key] = Known(definition.name, definition.kind, definition.key, definition.key, site)
    for file in around(snapshot):
        for key, sites in definitions(file).items():
            if _field_of(key, owner) and key not in found:
                found[key] = Known(sites[0].definition.name, sites[0].definition.kind, key, key, sites[0])
    return list(found.values())


def has_fields(snapshot: Snapshot, owner: Key) -> bool:
    return any(_field_of(key, owner) for file in around(snapshot) for key in definitions(file))


def _field_of(key: Key, owner: Key) -> bool:
    return bool(key[0] == "field" and key[1] == owner)


def owner_of(snapshot: Snapshot, part: Part, offset: int, name: str) -> Known | None:
    """What a bare name at an offset of the text means, as the owner of fields."""
    return next((known for known in values(snapshot, part, offset) if known.name == name), None)


def words_used(snapshot: Snapshot, space: str, but: str = "") -> list[str]:
    """Words of an open set (tags, clusters, levels) that stand anywhere around, the most used first; `but` is typed."""
    counts: dict[str, int] = {}
    for file in _read(snapshot):
        for part in file.parts:
            for key, occurrences in index(part.body).by_key.items():
                if key[0] == space:
                    counts[key[1]] = counts.get(key[1], 0) + len(occurrences)
    if counts.get(but) == 1:
        del counts[but]
    return sorted(counts, key=lambda word: (-counts[word], word))


def uses(snapshot: Snapshot, key: Key) -> int:
    """How often a key stands in the files around."""
    return sum(len(index(part.body).by_key.get(key, ())) for file in _read(snapshot) for part in file.parts)


def _read(snapshot: Snapshot) -> list[Snapshot]:
    return [file for file in around(snapshot) if not too_large(file)]
