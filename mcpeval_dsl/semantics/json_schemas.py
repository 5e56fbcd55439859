"""Semantics, beside the catalogue: what can be said of a JSON Schema without any value to try it on.

Schemas come from servers: they may refer in circles, say nothing, or nonsense. Where something is open, the answer is None,
and nobody complains about a spec for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

DEPTH = 40
"""Steps of references and parts that are followed; a schema that is nested deeper counts as open."""

PARTS = 300
TYPES = frozenset({"null", "boolean", "integer", "number", "string", "object", "array"})
Schema = Mapping[str, Any]
_OPEN = ("$ref", "allOf", "if", "not", "$dynamicRef", "dependentSchemas")
_MISSING: Any = object()


def resolved(root: Any, schema: Any) -> Any:
    """What a local `$ref` leads to, with what stands beside it; the schema itself where it is none, or leads nowhere."""
    for _ in range(DEPTH):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        found = _pointed(root, schema["$ref"])
        if found is _MISSING:
            return schema
        schema = {**found, **{k: v for k, v in schema.items() if k != "$ref"}} if isinstance(found, Mapping) else found
    return schema


def _pointed(root: Any, pointer: str) -> Any:
    if not pointer.startswith("#"):
        return _MISSING
    for part in pointer[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(root, Mapping) or name not in root:
            return _MISSING
        root = root[name]
    return root


def types_of(schema: Schema) -> frozenset[str] | None:
    """JSON types a schema allows; None for any."""
    given = schema.get("type")
    if given is not None:
        names = [given] if isinstance(given, str) else given if isinstance(given, Sequence) else ()
        # a word that is no type says nothing, and it stands for anything
        sound = bool(names) and all(isinstance(name, str) and name in TYPES for name in names)
        return frozenset(names) if sound else None
    if "properties" in schema:
        return frozenset({"object"})
    values = values_of(schema)
    return None if values is None else frozenset(map(type_name, values))


def values_of(schema: Schema) -> list[Any] | None:
    """The values a schema lists; None where it lists none."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return values if isinstance(values, list) else None


def type_name(value: object) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def branches(schema: Schema) -> list[Any]:
    """The ways of `anyOf` or `oneOf`."""
    found = schema.get("anyOf", schema.get("oneOf"))
    return found if isinstance(found, list) else []


def parts(root: Any, schema: Any) -> list[Schema] | None:
    """All schemas of which a value must fit at least one; None where anything may fit, or too many may."""
    found: list[Schema] = []
    todo: list[Any] = [schema]
    for _ in range(PARTS):
        if not todo:
            return found
        part = resolved(root, todo.pop())
        if not isinstance(part, Mapping) or any(word in part for word in _OPEN):
            return None
        ways = branches(part)
        todo.extend(reversed(ways))
        if not ways:
            found.append(part)
    return None


def members(root: Any, schema: Any) -> dict[str, list[Any]] | None:
    """Schemas of each member by name, of every object that is allowed here; None where members are open."""
    found: dict[str, list[Any]] = {}
    for part in _of_type(root, schema, "object") or [{}]:
        fields = part.get("properties")
        closed = part.get("additionalProperties") is False
        if not isinstance(fields, Mapping) or "patternProperties" in part or (not fields and not closed):
            return None
        if isinstance(part.get("additionalProperties"), Mapping):
            return None
        for name, inner in fields.items():
            found.setdefault(name, []).append(inner)
    return found


def items(root: Any, schema: Any) -> list[Any] | None:
    """Schemas of the items of every list that is allowed here; None where they are open."""
    found: list[Any] = []
    for part in _of_type(root, schema, "array") or [{}]:
        if "items" not in part or "prefixItems" in part:
            return None
        found.append(part["items"])
    return found


def _of_type(root: Any, schema: Any, wanted: str) -> list[Schema] | None:
    """The parts that allow values of one type; None where one of them allows any."""
    found: list[Schema] = []
    for part in parts(root, schema) or [{}]:
        types = types_of(part)
        if types is None:
            return None
        if wanted in types:
            found.append(part)
    return found


def allows(root: Any, schema: Any) -> frozenset[str] | None:
    """JSON types that are allowed here, over all ways; None for any."""
    found: frozenset[str] = frozenset()
    for part in parts(root, schema) or [{}]:
        types = types_of(part)
        if types is None:
            return None
        found |= types
    return found
