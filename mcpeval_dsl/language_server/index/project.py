"""Language server, index: what a name means across a file, what it imports, and what imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

from mcpeval_dsl.language_server.index.model import Definition, Key, Occurrence, is_local
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.snapshot import Snapshot

LARGEST = 1_000_000  # characters of a file that is read as a whole


def too_large(snapshot: Snapshot) -> bool:
    """Whether a file is so large that only the part under the cursor is looked at."""
    return len(snapshot.text) > LARGEST


class Site(NamedTuple):
    """A definition where it stands."""

    snapshot: Snapshot
    part: Part
    definition: Definition

    @property
    def name_span(self) -> tuple[int, int]:
        return self.part.start + self.definition.name_start, self.part.start + self.definition.name_end

    @property
    def whole_span(self) -> tuple[int, int]:
        return self.part.start + self.definition.start, self.part.start + self.definition.end

    @property
    def statement(self) -> str:
        """The text of the statement that defines it."""
        return self.part.body.text[self.definition.start : self.definition.end]


class Place(NamedTuple):
    """An occurrence where it stands: `start..end` are offsets of the whole text."""

    snapshot: Snapshot
    start: int
    end: int
    occurrence: Occurrence


@dataclass(frozen=True, slots=True)
class Found:
    """What stands at an offset. `key` is None for what is no name of the spec; without `sites` nothing defines it."""

    snapshot: Snapshot
    part: Part
    occurrence: Occurrence
    key: Key | None = None
    sites: tuple[Site, ...] = ()

    @property
    def start(self) -> int:
        return self.part.start + self.occurrence.start

    @property
    def end(self) -> int:
        return self.part.start + self.occurrence.end


def definitions(snapshot: Snapshot) -> dict[Key, list[Site]]:
    """What a file defines for all of the spec; found once for a snapshot."""
    known = snapshot.kept.get("definitions")
    if known is not None:
        return cast("dict[Key, list[Site]]", known)
    found: dict[Key, list[Site]] = {}
    snapshot.kept["definitions"] = found
    for part in snapshot.parts if not too_large(snapshot) else ():
        for definition in index(part.body).definitions:
            if not is_local(definition.key):
                found.setdefault(definition.key, []).append(Site(snapshot, part, definition))
    return found


def imported(snapshot: Snapshot) -> list[Snapshot]:
    """The file and all it imports, directly or not."""
    return _closure([snapshot], lambda file: [entry.path for entry in file.imports])


def around(snapshot: Snapshot) -> list[Snapshot]:
    """The file, what it imports, then what imports it, with what those import: all that may share its names."""
    own = imported(snapshot)
    known = {file.path for file in own}
    above = _closure([snapshot], lambda file: file.files.importers(file.path))
    more = _closure(above, lambda file: [entry.path for entry in file.imports])
    return own + [file for file in more if file.path not in known]


def _closure(start: list[Snapshot], following: Callable[[Snapshot], Iterable[str]]) -> list[Snapshot]:
    found = {file.path: file for file in start}
    pending = list(start)
    while pending:
        file = pending.pop(0)
        for path in following(file):
            if path not in found and (next_file := file.files.snapshot(path)) is not None:
                found[path] = next_file
                pending.append(next_file)
    return list(found.values())


def sites_of(key: Key, files: list[Snapshot]) -> tuple[Site, ...]:
    """Definitions of a key in the first file that has some."""
    for file in files:
        if key in (known := definitions(file)):
            return tuple(known[key])
    return ()


def find(snapshot: Snapshot, offset: int) -> Found | None:
    """The name at an offset, with its definitions."""
    part = snapshot.part_at(offset)
    occurrence = index(part.body).at(offset - part.start)
    if occurrence is None and part.start == offset and offset > 0:
        part = snapshot.part_at(offset - 1)  # a name that ends where the next part begins
        occurrence = index(part.body).at(offset - part.start)
    if occurrence is None:
        return None
    return resolve(snapshot, part, occurrence)


def resolve(snapshot: Snapshot, part: Part, occurrence: Occurrence) -> Found:
    """What an occurrence means: the first of its keys that is defined."""
    if not occurrence.keys:
        return Found(snapshot, part, occurrence)
    files: list[Snapshot] | None = None
    for key in occurrence.keys:
        if is_local(key):
            own = tuple(Site(snapshot, part, d) for d in index(part.body).definitions if d.key == key)
            return Found(snapshot, part, occurrence, key, own)
        files = around(snapshot) if files is None else files
        sites = sites_of(key, files)
        if sites:
            return Found(snapshot, part, occurrence, key, sites)
    return Found(snapshot, part, occurrence, occurrence.keys[0])


def places(found: Found, files: list[Snapshot] | None = None) -> Iterator[Place]:
    """Every occurrence that means the same, definitions among them, file by file in order of the text.

    `files` are those to look in; without, all that may share the name.
    """
    key = found.key
    if key is None:
        return
    if is_local(key):
        for occurrence in index(found.part.body).by_key.get(key, ()):
            yield _place(found.snapshot, found.part, occurrence)
        return
    home = found.sites[0].snapshot if found.sites else found.snapshot
    shared = around(home)
    for file in files if files is not None else shared:
        if file is not home and key in definitions(file):
            continue  # the same name of another spec
        for part in file.parts if not too_large(file) else ():
            for occurrence in index(part.body).by_key.get(key, ()):
                if _means(occurrence, key, shared):
                    yield _place(file, part, occurrence)


def _means(occurrence: Occurrence, key: Key, files: list[Snapshot]) -> bool:
    """Whether no earlier key of the occurrence is defined."""
    for candidate in occurrence.keys:
        if candidate == key:
            return True
        if sites_of(candidate, files):
            return False
    return False


def _place(snapshot: Snapshot, part: Part, occurrence: Occurrence) -> Place:
    return Place(snapshot, part.start + occurrence.start, part.start + occurrence.end, occurrence)
