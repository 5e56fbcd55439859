"""Language server, definition: a name -> where it is defined; a path -> the file it names."""

from __future__ import annotations

from typing import NamedTuple

from mcpeval_dsl.language_server.index.project import find
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.reader import beside


class Target(NamedTuple):
    """The name at `start..end` of a file, within the statement `whole_start..whole_end`."""

    snapshot: Snapshot
    start: int
    end: int
    whole_start: int
    whole_end: int


class Definition(NamedTuple):
    """What stands at `start..end` is defined at `targets`."""

    start: int
    end: int
    targets: tuple[Target, ...]


def definition(snapshot: Snapshot, offset: int) -> Definition | None:
    """Where the name at an offset is defined; several places for a catalogue of several servers."""
    found = find(snapshot, offset)
    if found is None:
        return None
    if found.occurrence.role == "path":
        target = snapshot.files.snapshot(beside(snapshot.path, found.occurrence.name))
        places = () if target is None else (Target(target, 0, 0, 0, 0),)
        return Definition(found.start, found.end, places) if places else None
    targets = tuple(Target(site.snapshot, *site.name_span, *site.whole_span) for site in found.sites)
    return Definition(found.start, found.end, targets) if targets else None
