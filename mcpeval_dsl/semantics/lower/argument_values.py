"""Semantics, lowering: values written in a spec against the JSON Schema of the argument that they are for.

Only what is written out is looked at. A reference or a template has its value at run time: it is never wrong here. Every
keyword that is not known here allows everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from mcpeval_dsl.diagnostics.model import Edit, Fix, Severity
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import CONSTANTS
from mcpeval_dsl.semantics.json_schemas import DEPTH, branches, resolved, types_of, values_of
from mcpeval_dsl.semantics.symbols import name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import ListValue, Number, ObjectValue, Ref, String, Value

NOUNS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}
_FORMATS = {
    "date": (re.compile(r"\d{4}-\d\d-\d\d"), "a date such as 2026-11-30"),
    "date-time": (re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*"), "a time such as 2026-11-30T12:00:00Z"),
    "uuid": (re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), "a UUID"),
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "an e-mail address"),
    "uri": (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.S), "a URI such as https://example.org/"),
}
UNKNOWN: Any = object()
WORK = 5000


@dataclass(frozen=True, slots=True)
class Misfit:
    """`what` follows the name of the argument or of the place inside it: `is a whole number, not a text`."""

    code: str
    span: Span
    path: str
    what: str
    hint: str
    fixes: tuple[Fix, ...] = ()
    severity: Severity = "error"


def misfits(value: Value, root: Mapping[str, Any], schema: Any, *, partial: bool = False) -> tuple[Misfit, ...]:
    """What of `value` the schema (a part of `root`) does not allow. With `partial`, objects need not be whole."""
    return tuple(_check(_Place(root, partial), value, schema, "", DEPTH))


@dataclass(frozen=True, slots=True)
class _Place:
    root: Mapping[str, Any]
    partial: bool
    left: list[int] = field(default_factory=lambda: [WORK])
    """Parts of the schema that may still be looked at: one that branches into itself would have no end."""


def literal(value: Value) -> Any:
    """The JSON value that is written out; UNKNOWN where it comes from somewhere else. Lists and objects are empty ones."""
    match value:
        case String():
            return UNKNOWN if value.has_templates and "{{" in value.value else value.value
        case Number():
            return value.value
        case ListValue():
            return []
        case ObjectValue():
            return {}
        case Ref() if not value.postfixes and value.root.text in CONSTANTS:
            return CONSTANTS[value.root.text]
        case _:
            return UNKNOWN


def _check(place: _Place, value: Value, schema: Any, path: str, depth: int) -> Iterator[Misfit]:
    given = literal(value)
    schema = resolved(place.root, schema)
    place.left[0] -= 1
    if given is UNKNOWN or depth == 0 or place.left[0] < 0 or not isinstance(schema, Mapping):
        return
    for part in schema["allOf"] if isinstance(schema.get("allOf"), list) else ():
        yield from _check(place, value, part, path, depth - 1)
    ways = branches(schema)
    if ways:
        yield from _best(place, value, ways, path, depth)
    types = types_of(schema)
    if types is not None and not _is(given, types):
        yield _of_type(value, given, types, path)
        return
    values = values_of(schema)
    if values is not None and isinstance(value, String | Number | Ref) and not any(_same(given, v) for v in values):
        yield _unlisted(value, given, values, path)
        return
    yield from _bounds(value, given, schema, path)
    if isinstance(value, ListValue):
        yield from _of_items(place, value, schema, path, depth)
    elif isinstance(value, ObjectValue):
        yield from _of_members(place, value, schema, path, depth)


def _is(given: Any, types: frozenset[str]) -> bool:
    match given:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case int() | float():
            return "number" in types or ("integer" in types and float(given).is_integer())
        case str():
            return "string" in types
        case list():
            return "array" in types
        case _:
            return "object" in types


def _same(given: Any, listed: Any) -> bool:
    return isinstance(given, bool) == isinstance(listed, bool) and bool(given == listed)


def _best(place: _Place, value: Value, ways: Sequence[Any], path: str, depth: int) -> Iterator[Misfit]:
    """Nothing where one way fits. Else what is wrong by the way that was meant: the only one of the value's type."""
    tried = [tuple(_check(place, value, way, path, depth - 1)) for way in ways[:200]]
    if len(ways) > 200 or any(not found for found in tried):
        return
    meant = [
        found for found in tried if not (found[0].path == path and found[0].code == "MCPE266" and not found[0].hint)
    ]
    listed = [found for found in tried if found[0].code == "MCPE267"]
    chosen = meant if len(meant) == 1 else listed[:1]
    if chosen:
        yield from chosen[0]
        return
    kinds = [types_of(way) for way in (resolved(place.root, each) for each in ways) if isinstance(way, Mapping)]
    known = frozenset().union(*(kind for kind in kinds if kind is not None))
    given = literal(value)
    if known and not _is(given, known):
        yield _of_type(value, given, known, path)
    else:
        yield Misfit("MCPE266", value.span, path, f"fits none of the {len(ways)} ways in which it may be written", "")


def _of_type(value: Value, given: Any, types: frozenset[str], path: str) -> Misfit:
    wanted = " or ".join(NOUNS.get(name, name) for name in sorted(types))
    what = f"is {wanted}, not {_noun(given)}"
    mended = _mended(given, types)
    if mended is None:
        return Misfit("MCPE266", value.span, path, what, "")
    fix = Fix(f"write {mended}", (Edit(value.span.location(), mended),))
    return Misfit("MCPE266", value.span, path, what, f"write `{mended}`", (fix,))


def _noun(given: Any) -> str:
    match given:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "a number"
        case float():
            return "a number with a fraction" if not given.is_integer() else "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


def _mended(given: Any, types: frozenset[str]) -> str | None:
    """The same in the type that is wanted, where that is plain."""
    if isinstance(given, bool | int) and "string" in types:
        return json.dumps(json.dumps(given))
    if isinstance(given, str):
        if types & {"integer", "number"} and re.fullmatch(r"-?\d{1,15}", given):
            return given
        if "boolean" in types and given in ("true", "false"):
            return given
    return None


def _unlisted(value: Value, given: Any, values: Sequence[Any], path: str) -> Misfit:
    written = [json.dumps(each, ensure_ascii=False) for each in values]
    listed = ", ".join(written[:8]) + (f" and {len(written) - 8} more" if len(written) > 8 else "")
    near = closest(given, [v for v in values if isinstance(v, str)]) if isinstance(given, str) else None
    what = f"is never {json.dumps(given, ensure_ascii=False)}"
    if near is None:
        return Misfit("MCPE267", value.span, path, what, f"it takes: {listed}" if listed else "it takes nothing")
    text = json.dumps(near, ensure_ascii=False)
    fix = Fix(f"write {text}", (Edit(value.span.location(), text),))
    return Misfit("MCPE267", value.span, path, what, f"did you mean `{text}`?", (fix,))


def _bounds(value: Value, given: Any, schema: Mapping[str, Any], path: str) -> Iterator[Misfit]:
    size: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    noun = ""
    if isinstance(given, str):
        size, pairs, noun = len(given), (("minLength", "at least"), ("maxLength", "at most")), " characters long"
        yield from _worded(value, given, schema, path)
    elif isinstance(given, int | float) and not isinstance(given, bool):
        size = given
        pairs = (("minimum", "at least"), ("maximum", "at most"))
        pairs += (("exclusiveMinimum", "above"), ("exclusiveMaximum", "below"))
    elif isinstance(value, ListValue):
        size, pairs, noun = len(value.items), (("minItems", "at least"), ("maxItems", "at most")), " items long"
    for key, words in pairs:
        bound = schema.get(key)
        if size is None or not isinstance(bound, int | float) or isinstance(bound, bool):
            continue
        fine = {"at least": size >= bound, "at most": size <= bound, "above": size > bound, "below": size < bound}
        if not fine[words]:
            yield Misfit("MCPE266", value.span, path, f"is {words} {bound}{noun}", f"it is {size:g} here")


def _worded(value: Value, given: str, schema: Mapping[str, Any], path: str) -> Iterator[Misfit]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not _matches(pattern, given):
        yield Misfit("MCPE266", value.span, path, f"matches `{pattern[:80]}`", f"`{given[:40]}` does not")
    name = schema.get("format")
    known = _FORMATS.get(name) if isinstance(name, str) else None
    if known is not None and not known[0].fullmatch(given):
        # servers seldom insist on a format
        yield Misfit(
            "MCPE268", value.span, path, f"is {known[1]}", "write it so, unless the server takes more", (), "warning"
        )


def _matches(pattern: str, text: str) -> bool:
    """True also where the pattern is none that can be tried in linear time."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options).search(text) is not None
    except re2.error:
        return True


def _of_items(place: _Place, value: ListValue, schema: Mapping[str, Any], path: str, depth: int) -> Iterator[Misfit]:
    first = schema.get("prefixItems")
    before = first if isinstance(first, list) else []
    for number, item in enumerate(value.items):
        inner = before[number] if number < len(before) else schema.get("items")
        if isinstance(inner, Mapping):
            yield from _check(place, item, inner, f"{path}[{number}]", depth - 1)


def _of_members(
    place: _Place, value: ObjectValue, schema: Mapping[str, Any], path: str, depth: int
) -> Iterator[Misfit]:
    fields = schema.get("properties")
    known: Mapping[str, Any] = fields if isinstance(fields, Mapping) else {}
    others = schema.get("additionalProperties", True)
    given = set()
    for pair in value.pairs:
        name = name_text(pair.key)
        given.add(name)
        where = f"{path}.{name}"
        if name in known:
            yield from _check(place, pair.value, known[name], where, depth - 1)
        elif isinstance(others, Mapping):
            yield from _check(place, pair.value, others, where, depth - 1)
        elif others is False and "patternProperties" not in schema:
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else f"it has: {', '.join(f'`{n}`' for n in list(known)[:8])}"
            fixes = (renamed(pair.key.span, near),) if near else ()
            yield Misfit("MCPE261", pair.key.span, path, f"has no member `{name}`", hint, fixes)
    needed = schema.get("required")
    for name in needed if isinstance(needed, list) and not place.partial else ():
        if isinstance(name, str) and name not in given:
            yield Misfit("MCPE262", value.span, path, f"needs the member `{name}`", f"add `{name}: …`")


def renamed(span: Span, name: str) -> Fix:
    """The name in place of what stands there, quoted where it has to be."""
    text = name if re.fullmatch(r"[A-Za-z_][\w-]*", name) else json.dumps(name, ensure_ascii=False)
    return Fix(f"write {text}", (Edit(span.location(), text),))
