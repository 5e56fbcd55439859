"""Language server, index: the tools of servers as the lock knows them, and their schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.language_server.index.model import Occurrence
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import around, definitions, too_large
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.catalogue import KnownTool

_DEEPEST = 12
_STEP = re.compile(r"\.{1,2}([A-Za-z_][\w-]*)|\[(?:\"([^\"]*)\"|'([^']*)'|[^\]]*)\]")


def members(snapshot: Snapshot, server: str) -> list[str]:
    """The servers behind the name of a server or catalogue."""
    found: list[str] = []
    for file in around(snapshot):
        known = definitions(file)
        if ("server", server) in known:
            found.append(server)
        for site in known.get(("catalogue", server), ()):
            found.extend(d.name for d in index(site.part.body).definitions if d.key[0] == "server")
    return list(dict.fromkeys(found)) or [server]


def tools(snapshot: Snapshot, server: str) -> dict[str, tuple[str, KnownTool]]:
    """(server, tool) by name, of one server or catalogue; of all servers for ''."""
    names = members(snapshot, server) if server else list(snapshot.known)
    found: dict[str, tuple[str, KnownTool]] = {}
    for name in names:
        locked = snapshot.known.get(name)
        for tool in locked.tools.values() if locked is not None else ():
            found.setdefault(tool.name, (name, tool))
    return found


def tool(snapshot: Snapshot, server: str, name: str) -> tuple[str, KnownTool] | None:
    """One tool; without a server, the first that has it."""
    return tools(snapshot, server).get(name)


def mentioned(snapshot: Snapshot, server: str) -> list[str]:
    """Tools that are named around, of a server; of any for ''."""
    found: dict[str, None] = {}
    for file in around(snapshot):
        for part in file.parts if not too_large(file) else ():
            for key, occurrences in index(part.body).by_key.items():
                if key[0] == "tool" and "*" not in key[1] and _of(occurrences, server):
                    found[key[1]] = None
    return list(found)


def _of(occurrences: list[Occurrence], server: str) -> bool:
    return not server or any(o.detail in ("", server) for o in occurrences)


def unlocked(snapshot: Snapshot) -> bool:
    """Whether some server around is not in the lock."""
    names = {key[1] for file in around(snapshot) for key in definitions(file) if key[0] == "server"}
    return not names <= set(snapshot.known)


def mentioned_arguments(snapshot: Snapshot, tool: str) -> list[str]:
    """Arguments that are given to a tool around."""
    found: dict[str, None] = {}
    for file in around(snapshot):
        for part in file.parts if not too_large(file) else ():
            found.update((key[2], None) for key in index(part.body).by_key if key[:2] == ("argument", tool))
    return list(found)


def properties(schema: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """Members of an object by name, those of alternatives and of what it refers to among them."""
    found: dict[str, Mapping[str, Any]] = {}
    for part in _parts(schema, schema, 0):
        listed = part.get("properties")
        if isinstance(listed, Mapping):
            for name, entry in listed.items():
                found.setdefault(str(name), _known(entry, schema))
    return found


def required(schema: Mapping[str, Any] | None) -> frozenset[str]:
    names = (schema or {}).get("required")
    return frozenset(n for n in names if isinstance(n, str)) if isinstance(names, list) else frozenset()


def inside(schema: Mapping[str, Any] | None, steps: tuple[str | int, ...]) -> Mapping[str, Any] | None:
    """The schema of what lies at the end of a way through members and indexes; None where it is not known."""
    root = schema
    for step in steps[:_DEEPEST]:
        if schema is None:
            return None
        if isinstance(step, str):
            schema = properties(_rooted(schema, root)).get(step)
        else:
            items = next((p.get("items") for p in _parts(schema, root, 0) if p.get("items") is not None), None)
            schema = items if isinstance(items, Mapping) else None
        schema = _rooted(schema, root)
    return schema


def path_steps(path: str) -> tuple[str | int, ...]:
    """The members and indexes that a JSONPath leads through."""
    found: list[str | int] = []
    for step in _STEP.finditer(path):
        name = step[1] or step[2] or step[3]
        found.append(name if name is not None else 0)
    return tuple(found)


def choices(schema: Mapping[str, Any] | None) -> list[Any]:
    """The values a schema lists: enum, const, truth values; else its default and examples."""
    found: list[Any] = []
    for part in _parts(schema, schema, 0):
        listed = part.get("enum")
        if isinstance(listed, list):
            found += listed
        if "const" in part:
            found.append(part["const"])
        if part.get("type") == "boolean":
            found += [True, False]
    if not found:
        for part in _parts(schema, schema, 0):
            examples = part.get("examples")
            found += [part["default"]] if "default" in part else []
            found += examples if isinstance(examples, list) else []
    unique: list[Any] = []
    for value in found[:200]:
        if not any(value is other or (type(value) is type(other) and value == other) for other in unique):
            unique.append(value)
    return [value for value in unique if value is None or isinstance(value, (str, int, float, bool))]


def kind_of(schema: Mapping[str, Any] | None) -> str:
    """The type in a few words: `string`, `array of integer`, `a | b`."""
    kinds: dict[str, None] = {}
    for part in _parts(schema, schema, 0):
        named = part.get("type")
        for kind in named if isinstance(named, list) else [named]:
            if kind == "array":
                items = part.get("items")
                inner = kind_of(_rooted(items, schema)) if isinstance(items, Mapping) else ""
                kinds[f"array of {inner}" if inner else "array"] = None
            elif isinstance(kind, str):
                kinds[kind] = None
    return " | ".join(list(kinds)[:5])


def _rooted(schema: Any, root: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A part of a schema with the definitions of the whole, so that its references still lead somewhere."""
    if not isinstance(schema, Mapping):
        return None
    kept = {name: root[name] for name in ("$defs", "definitions") if root and name in root and name not in schema}
    return {**schema, **kept} if kept else schema


def _known(entry: Any, root: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return _rooted(entry, root) or {}


def _parts(schema: Any, root: Mapping[str, Any] | None, depth: int) -> list[Mapping[str, Any]]:
    """The schema itself, what it refers to, and its alternatives."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return []
    found = [schema]
    target = schema.get("$ref")
    if isinstance(target, str) and target.startswith("#/") and root is not None:
        found += _parts(_at(root, target[2:].split("/")), root, depth + 1)
    for word in ("allOf", "anyOf", "oneOf"):
        listed = schema.get(word)
        for entry in listed[:20] if isinstance(listed, list) else ():
            found += _parts(entry, root, depth + 4)
    return found


def _at(root: Any, steps: list[str]) -> Any:
    for step in steps:
        root = root.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(root, Mapping) else None
    return root
