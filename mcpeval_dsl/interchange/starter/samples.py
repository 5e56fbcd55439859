"""Interchange, starter: arguments that a schema would take, where nothing better is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.interchange.starter.model import Tool, parts_of
from mcpeval_dsl.semantics.json_schemas import allows, parts, resolved, types_of, values_of

DEPTH = 5


FOLDER = "the-folder-of-the-trial"
"""Stands for the folder that each trial gets a copy of, until the text is written."""
_PLACES = frozenset({"path", "directory", "dir", "folder", "root", "repo", "repository", "workspace", "cwd"})


def arguments(tool: Tool, *, folder: bool = False) -> dict[str, Any] | None:
    """The required arguments with a value each; None where one cannot be thought of.

    With `folder`, paths are that of the trial's copy.
    """
    found: dict[str, Any] = {}
    for name in tool.required:
        if name not in tool.arguments or len(name) > 200:
            return None
        schema = tool.arguments[name]
        is_place = folder and parts_of(name)[-1:] and parts_of(name)[-1] in _PLACES
        is_place = is_place and "string" in (allows(tool.input_schema, schema) or {"string"})
        value = FOLDER if is_place else sample(tool.input_schema, schema, DEPTH)
        if value is NOTHING:
            return None
        found[name] = value
    return found


NOTHING: Any = object()


def sample(root: Mapping[str, Any], schema: Any, depth: int) -> Any:
    """An example, the default, the first listed value, or the plainest one of its type."""
    schema = resolved(root, schema)
    if depth == 0 or not isinstance(schema, Mapping):
        return NOTHING
    for given in (*_examples(schema), *(values_of(schema) or ())[:1]):
        if _small(given):
            return given
    ways = parts(root, schema)
    if not ways:
        return NOTHING
    # a text is often a second way to say what another type says better
    ways.sort(key=lambda way: types_of(way) in (None, frozenset({"string"}), frozenset({"null"})))
    return _plainest(root, ways[0], depth)


def _examples(schema: Mapping[str, Any]) -> list[Any]:
    listed = schema.get("examples")
    found = listed[:1] if isinstance(listed, list) else []
    return [*found, *([schema["default"]] if schema.get("default") is not None else [])]


def _small(value: Any) -> bool:
    if isinstance(value, str):
        # a text that reads as a template, in the spec or in the script, would be one
        return 0 < len(value) <= 80 and value.isprintable() and not any(open_ in value for open_ in ("{{", "{%", "{#"))
    return value is None or isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < 1e9)


def _plainest(root: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Any:
    types = types_of(schema) or frozenset({"string"})
    if types & {"integer", "number"}:
        return _number(schema)
    if "boolean" in types:
        return False
    if "string" in types:
        return _text(schema)
    if "array" in types:
        return _list(root, schema, depth)
    if "object" in types:
        return _object(root, schema, depth)
    return None if "null" in types else NOTHING


def _text(schema: Mapping[str, Any]) -> Any:
    if "pattern" in schema:
        return NOTHING
    formats = {"date": "2026-01-01", "date-time": "2026-01-01T12:00:00Z", "uri": "https://example.org/"}
    text = formats.get(str(schema.get("format")), "example")
    least, most = schema.get("minLength", 0), schema.get("maxLength", 200)
    fits = isinstance(least, int) and isinstance(most, int) and least <= len(text) <= most
    return text if fits else NOTHING


def _number(schema: Mapping[str, Any]) -> Any:
    for tried in (1, schema.get("minimum"), schema.get("maximum")):
        if not isinstance(tried, int) or isinstance(tried, bool) or "multipleOf" in schema or abs(tried) >= 10**9:
            continue
        low, high, above, below = (_bound(schema, key) for key in _BOUNDS)
        if low <= tried <= high and above < tried < below:
            return tried
    return NOTHING


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def _bound(schema: Mapping[str, Any], key: str) -> float:
    found = schema.get(key)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return found
    return float("-inf") if key.endswith("inimum") else float("inf")


def _list(root: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Any:
    least = schema.get("minItems", 0)
    if not least:
        return []
    item = sample(root, schema.get("items"), depth - 1)
    return NOTHING if item is NOTHING or least != 1 or "prefixItems" in schema else [item]


def _object(root: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Any:
    fields, needed = schema.get("properties"), schema.get("required")
    found: dict[str, Any] = {}
    for name in needed if isinstance(needed, list) else ():
        if not isinstance(name, str):
            return NOTHING
        value = sample(root, fields.get(name) if isinstance(fields, Mapping) else None, depth - 1)
        if value is NOTHING:
            return NOTHING
        found[name] = value
    return found
