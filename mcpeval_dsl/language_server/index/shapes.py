"""Language server, index: what the locked output schemas say of harvested values, where no block declares their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.language_server.index import tools
from mcpeval_dsl.language_server.index.model import Definition, Key
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import around, sites_of
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.snapshot import Snapshot

_CALL = re.compile(r"\s*([A-Za-z_][\w-]*)\s*\.\s*(?:\"([^\"\n]*)\"|([A-Za-z_][\w-]*))\s*\(")
_PATH = re.compile(r"\s*\$[^\s,()]*\s*\Z")


def result_schema(snapshot: Snapshot, call: str) -> Mapping[str, Any] | None:
    """The output schema of the tool that a text calls; None where it calls none that is known."""
    called = _CALL.match(call)
    if called is None:
        return None
    known = tools.tool(snapshot, called[1], called[2] or called[3])
    return None if known is None else known[1].output_schema


def schema_of(snapshot: Snapshot, part: Part, key: Key) -> Mapping[str, Any] | None:
    """The schema of what a key names: of a harvest its result, of a binding what its path leads to."""
    definition = _definition(snapshot, part, key)
    if definition is None:
        # a field that nobody declares is a member of what has it
        return tools.inside(schema_of(snapshot, part, key[1]), (key[2],)) if key[0] == "field" else None
    if _PATH.match(definition.origin) and key[0] == "field":
        owner = _definition(snapshot, part, key[1])
        schema = None if owner is None else result_schema(snapshot, owner.origin)
        return tools.inside(schema, tools.path_steps(definition.origin))
    return result_schema(snapshot, definition.origin)


def _definition(snapshot: Snapshot, part: Part, key: Key) -> Definition | None:
    own = next((d for d in index(part.body).definitions if d.key == key), None)
    if own is not None:
        return own
    sites = sites_of(key, around(snapshot))
    return sites[0].definition if sites else None
