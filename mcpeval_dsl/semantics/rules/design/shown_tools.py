"""Semantics, inside rules on design: the locked tools of each server that agents may see."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from mcpeval_dsl.semantics.catalogue import KnownTool
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Catalogue, Server


class Shown(NamedTuple):
    """A server with its catalogue and its tools; of several versions of one server only the first."""

    server: Server
    catalogue: Catalogue
    tools: tuple[KnownTool, ...]

    def annotated(self, tool: str) -> bool:
        return any(fnmatchcase(tool, p.tool) for a in self.catalogue.annotations for p in a.patterns)


def shown(lowered: Lowered) -> Iterator[Shown]:
    """In the order of the text. Nothing without a lock."""
    catalogues = {catalogue.name: catalogue for catalogue in lowered.suite.catalogues}
    met: set[str] = set()
    for server in lowered.suite.servers:
        known = lowered.ctx.known.get(server.name)
        name = server.catalog or server.name
        if known is None or server.private or name in met:
            continue
        met.add(name)
        yield Shown(server, catalogues.get(name, Catalogue(name)), tuple(known.tools.values()))


def listed(names: list[str]) -> str:
    """The first five, and how many more."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"`{name}`" for name in names[:5]) + more
