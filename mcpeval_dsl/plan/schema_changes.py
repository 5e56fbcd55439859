"""Plan, beside the lock: how one JSON Schema differs from another, and whether what was valid still is.

A schema says which values are allowed. Against the old one the new one allows fewer in some place (`narrower`), more
(`wider`), or it says the same in other words. What cannot be compared counts as narrower and wider at once (`other`):
a call that worked may fail, a result that was read may look different. Whether that breaks depends on who has to keep
to the schema: callers to that of arguments, the server to that of results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mcpeval_dsl.semantics.json_schemas import DEPTH, TYPES, Schema, branches, resolved, types_of, values_of

Way = Literal["narrower", "wider", "other", "described", "cosmetic"]

_COSMETIC = frozenset({"title", "$schema", "$id", "$comment", "$defs", "definitions"})
_DESCRIBED = frozenset(
    {"description", "default", "examples", "deprecated", "format", "contentEncoding", "readOnly", "writeOnly"}
)
_STRUCTURE = frozenset(
    {"type", "enum", "const", "properties", "required", "items", "anyOf", "oneOf", "additionalProperties"}
)
_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """`path` leads to the place (`labels[].name`, empty for the whole); `member` is about a property itself."""

    path: str
    way: Way
    what: str
    member: Literal["", "gone", "new", "new and required", "required", "optional"] = ""


@dataclass(slots=True)
class _Pair:
    """Both documents, to resolve references in, and the pairs of references under way, so that recursive schemas end.

    `alone`: neither refers to other parts, so parts with equal text mean the same.
    """

    old: Schema
    new: Schema
    alone: bool
    seen: set[tuple[str, str]] = field(default_factory=set)


def compare(old: Schema, new: Schema) -> tuple[SchemaChange, ...]:
    """Every difference, in order of place."""
    if old == new:
        return ()
    alone = not any('"$ref"' in json.dumps(side) for side in (old, new))
    return tuple(_compare(_Pair(old, new, alone), old, new, "", DEPTH))


def _compare(pair: _Pair, old: Any, new: Any, path: str, depth: int) -> Iterator[SchemaChange]:
    if old == new and pair.alone:
        return
    if depth == 0 or _met(pair, old, new):
        return
    old, new = resolved(pair.old, old), resolved(pair.new, new)
    if isinstance(old, bool) or isinstance(new, bool):
        old, new = ({} if old is True else old), ({} if new is True else new)
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new:
            yield SchemaChange(path, "other", "is described in another way")
        return
    yield from _words(old, new, path)
    if branches(old) or branches(new):
        yield from _of_branches(pair, old, new, path, depth)
        return
    yield from _types(old, new, path)
    yield from _values(old, new, path)
    yield from _bounds(old, new, path)
    yield from _members(pair, old, new, path, depth)
    if "items" in old or "items" in new:
        yield from _compare(pair, old.get("items", {}), new.get("items", {}), f"{path}[]", depth - 1)


def _met(pair: _Pair, old: Any, new: Any) -> bool:
    """Whether this pair of references was compared already."""
    names = [side.get("$ref") if isinstance(side, Mapping) else None for side in (old, new)]
    if not any(isinstance(name, str) for name in names):
        return False
    key = (str(names[0]), str(names[1]))
    if key in pair.seen:
        return True
    pair.seen.add(key)
    return False


def _of_branches(pair: _Pair, old: Schema, new: Schema, path: str, depth: int) -> Iterator[SchemaChange]:
    """Branches are told apart by their types; one that is not alone with its types is compared as a whole."""
    before, after = _by_types(pair.old, old), _by_types(pair.new, new)
    for types in sorted(before.keys() | after.keys()):
        one, two = before.get(types, []), after.get(types, [])
        if len(one) == len(two) == 1:
            yield from _compare(pair, one[0], two[0], path, depth - 1)
            continue
        left, right = set(map(_text, one)), set(map(_text, two))
        gone, added = left - right, right - left
        if gone:
            yield SchemaChange(path, "narrower" if not added else "other", f"one way to say it is gone ({types})")
        elif added:
            yield SchemaChange(path, "wider", f"there is one more way to say it ({types})")


def _by_types(root: Schema, schema: Schema) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for branch in branches(schema) or [{k: v for k, v in schema.items() if k not in _DESCRIBED | _COSMETIC}]:
        plain = resolved(root, branch)
        types = types_of(plain) if isinstance(plain, Mapping) else None
        for name in sorted(types) if types else ["any"]:
            found.setdefault(name, []).append({**plain, "type": name} if types and len(types) > 1 else branch)
    return found


def _words(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    """What is only for people and models, and every keyword that is looked at nowhere else."""
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, _MISSING), new.get(key, _MISSING)
        if before == after or key in ("$defs", "definitions"):
            continue
        if key in _COSMETIC:
            yield SchemaChange(path, "cosmetic", f"`{key}` changed")
        elif key in _DESCRIBED:
            yield SchemaChange(path, "described", f"its {key} {_from(before, after)}")
        elif key not in _STRUCTURE | _LEAST | _MOST:
            way: Way = "wider" if after is _MISSING else "narrower" if before is _MISSING else "other"
            yield SchemaChange(path, way, f"`{key}` {_from(before, after)}")


def _types(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    before, after = types_of(old), types_of(new)
    if before == after:
        return
    one, two = _all(before), _all(after)
    said = f"type {_listed(before)} became {_listed(after)}"
    if two < one:
        yield SchemaChange(path, "narrower", said)
    elif one < two:
        yield SchemaChange(path, "wider", said)
    elif one != two:
        yield SchemaChange(path, "other", said)


def _all(types: frozenset[str] | None) -> frozenset[str]:
    """A number may be an integer."""
    if types is None:
        return TYPES
    return types | {"integer"} if "number" in types else types


def _listed(types: frozenset[str] | None) -> str:
    return "anything" if types is None else " or ".join(sorted(types)) or "nothing"


def _values(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    before, after = _chosen(old), _chosen(new)
    if before is None and after is None:
        return
    if before is None or after is None:
        way: Way = "narrower" if before is None else "wider"
        what = f"takes only {_shown(after)} now" if after is not None else "is not limited to a list any more"
        yield SchemaChange(path, way, what)
        return
    one, two = set(before), set(after)
    gone, added = [v for v in before if v not in two], [v for v in after if v not in one]
    if gone:
        yield SchemaChange(path, "narrower", f"value{'s' * (len(gone) > 1)} {_shown(gone)} gone")
    if added:
        yield SchemaChange(path, "wider", f"value{'s' * (len(added) > 1)} {_shown(added)} new")


def _chosen(schema: Schema) -> list[str] | None:
    values = values_of(schema)
    return None if values is None else list(map(_text, values))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(values: Sequence[str] | None) -> str:
    given = list(values or ())
    return ", ".join(given[:6]) + (f" and {len(given) - 6} more" if len(given) > 6 else "")


def _bounds(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    for key in sorted((old.keys() | new.keys()) & (_LEAST | _MOST)):
        before, after = old.get(key, _MISSING), new.get(key, _MISSING)
        if before == after:
            continue
        numbers = isinstance(before, int | float) and isinstance(after, int | float)
        tighter = before is _MISSING or (numbers and (after > before) == (key in _LEAST))
        way: Way = "wider" if after is _MISSING or not tighter else "narrower"
        yield SchemaChange(path, way, f"`{key}` {_from(before, after)}")


def _from(before: Any, after: Any) -> str:
    if after is _MISSING:
        return "is gone"
    if before is _MISSING:
        return f"is new: {_short(after)}"
    return f"changed from {_short(before)} to {_short(after)}"


def _short(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _members(pair: _Pair, old: Schema, new: Schema, path: str, depth: int) -> Iterator[SchemaChange]:
    before, after = _properties(old), _properties(new)
    needed = [_required(schema) for schema in (old, new)]
    for name in sorted(before.keys() | after.keys()):
        where = f"{path}.{name}" if path else name
        if name not in after:
            yield SchemaChange(where, "other", "is gone", "gone")
        elif name not in before:
            must = name in needed[1]
            yield SchemaChange(
                where, "other", "is new and required" if must else "is new", "new and required" if must else "new"
            )
        else:
            if (name in needed[0]) != (name in needed[1]):
                must = name in needed[1]
                word: Literal["required", "optional"] = "required" if must else "optional"
                yield SchemaChange(where, "narrower" if must else "wider", f"is {word} now", word)
            yield from _compare(pair, before[name], after[name], where, depth - 1)
    yield from _others(pair, old, new, path, depth)


def _required(schema: Schema) -> set[str]:
    found = schema.get("required")
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def _others(pair: _Pair, old: Schema, new: Schema, path: str, depth: int) -> Iterator[SchemaChange]:
    """Members that the schema does not name."""
    one, two = (s.get("additionalProperties", True) for s in (old, new))
    if one == two:
        return
    if two is False:
        yield SchemaChange(path, "narrower", "takes no further members now")
    elif one is False:
        yield SchemaChange(path, "wider", "takes further members now")
    else:
        yield from _compare(pair, one, two, f"{path}.*" if path else "*", depth - 1)


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}
