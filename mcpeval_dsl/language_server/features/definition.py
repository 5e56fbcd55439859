"""Language server, definition: a name -> where it is defined; a path -> the file it names; a tool -> its entry in the lock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from mcpeval_dsl.language_server.index import tools
from mcpeval_dsl.language_server.index.model import Occurrence
from mcpeval_dsl.language_server.index.project import around, find
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.plan.json_places import place
from mcpeval_dsl.project.loading import lock_path
from mcpeval_dsl.semantics.reader import beside

_LARGEST = 4_000_000  # characters of a lock that is looked into


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
    targets: tuple[Target, ...]
    if found.occurrence.role == "path":
        target = snapshot.files.snapshot(beside(snapshot.path, found.occurrence.name))
        targets = () if target is None else (Target(target, 0, 0, 0, 0),)
    elif found.occurrence.role == "tool":
        targets = tuple(_locked(snapshot, found.occurrence))
    else:
        targets = tuple(Target(site.snapshot, *site.name_span, *site.whole_span) for site in found.sites)
    return Definition(found.start, found.end, targets) if targets else None


def _locked(snapshot: Snapshot, occurrence: Occurrence) -> Iterator[Target]:
    """The entries of a tool in the locks beside the specs around."""
    known = tools.tool(snapshot, occurrence.detail, occurrence.name)
    if known is None:
        return
    for path in dict.fromkeys(lock_path(file.path) for file in around(snapshot)):
        text = snapshot.files.text(path)
        at = None if text is None or len(text) > _LARGEST else entry(text, known[0], occurrence.name)
        if text is not None and at is not None:
            lock = Snapshot(snapshot.files.uri(path), path, text, None, snapshot.encoding, (), {}, snapshot.files)
            yield Target(lock, at[0], at[1], at[0], at[1])


def entry(text: str, server: str, tool: str) -> tuple[int, int] | None:
    """Where the name of a tool stands in the text of a lock, without its quotes."""
    try:
        lock = json.loads(text)
        for number, found in enumerate(lock["servers"]):
            if found["server"] == server:
                names = [each["name"] for each in found["tools"]]
                start = place(text, ("servers", number, "tools", names.index(tool), "name"))
                return start + 1, start + len(json.dumps(tool)) - 1
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return None
