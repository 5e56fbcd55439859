"""Language server, document links: files that a spec names, where they exist."""

from __future__ import annotations

from typing import NamedTuple

from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.reader import beside, inside


class Link(NamedTuple):
    """The path at `start..end` names the file `path` of the project."""

    start: int
    end: int
    path: str


def links(snapshot: Snapshot) -> list[Link]:
    """Paths of imports, scripts, tables and the like, in order; those that leave the project are not followed."""
    found: list[Link] = []
    for part in snapshot.parts:
        for occurrence in index(part.body).paths:
            path = beside(snapshot.path, occurrence.name)
            if inside(snapshot.path, path) and snapshot.files.exists(path):
                found.append(Link(part.start + occurrence.start, part.start + occurrence.end, path))
    return found
