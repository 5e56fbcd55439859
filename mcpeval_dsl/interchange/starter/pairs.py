"""Interchange, starter: which tools fit together, by their schemas: one lists things with a key, another takes that key.

list_issues()  ->  {"issues": [{"key": …, "title": …}]}          get_issue(key)  ->  {"title": …, …}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.interchange.starter.model import Tool, parts_of
from mcpeval_dsl.provenance.roles import singular
from mcpeval_dsl.semantics.json_schemas import allows, items, members

MOST_TOOLS = 200
"""Of a kind; a catalogue with more is paired as far as its first ones."""
MOST_PAIRS = 3
_KEYS = ("id", "key", "name", "path", "uri", "slug", "number", "code", "sha", "ref", "uuid")
_TELLING = (
    "title",
    "name",
    "subject",
    "label",
    "summary",
    "status",
    "state",
    "owner",
    "author",
    "email",
    "description",
)


@dataclass(frozen=True, slots=True)
class Field:
    """A member that holds a text or a number: its name, and the JSONPath to it."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Pair:
    """`listing` gives, under `key`, what `getting` takes as `argument` (as a list of one where `many`).

    `told` is what `getting` says of it beyond the key; None where its schema does not say.
    """

    listing: Tool
    getting: Tool
    key: Field
    argument: str
    many: bool
    told: Field | None
    score: int


def pairs(tools: Sequence[Tool]) -> tuple[Pair, ...]:
    """The most plausible pairs first, each listing and each getting tool once."""
    listings = [tool for tool in tools if _lists(tool)][:MOST_TOOLS]
    gettings = [(tool, argument) for tool in tools if (argument := _only_argument(tool)) is not None][:MOST_TOOLS]
    found = sorted(
        (pair for listing in listings for pair in _of_listing(listing, gettings)),
        key=lambda pair: (-pair.score, pair.listing.name, pair.getting.name, pair.key.path),
    )
    chosen: list[Pair] = []
    for pair in found:
        used = {each.listing.name for each in chosen} | {each.getting.name for each in chosen}
        if pair.listing.name not in used and pair.getting.name not in used and len(chosen) < MOST_PAIRS:
            chosen.append(pair)
    return tuple(chosen)


def _lists(tool: Tool) -> bool:
    return tool.effect == "readonly" and not tool.required and tool.output_schema is not None


def _only_argument(tool: Tool) -> str | None:
    if tool.effect != "readonly" or len(tool.required) != 1 or tool.required[0] not in tool.arguments:
        return None
    return tool.required[0]


def _of_listing(listing: Tool, gettings: Iterable[tuple[Tool, str]]) -> Iterator[Pair]:
    fields = list(_listed(listing.output_schema or {}))
    if not fields:
        return
    for getting, argument in gettings:
        schema = getting.arguments[argument]
        types = allows(getting.input_schema, schema)
        many = types is not None and types <= {"array", "null"}
        if not many and (types is None or not types & {"string", "integer", "number"}):
            continue
        about = {singular(word) for word in listing.things} & {singular(word) for word in getting.things}
        for field in fields:
            fits = _fits(argument, field.name, listing, many)
            if fits and (about or fits > 1):
                score = 4 * bool(about) + fits + (getting.output_schema is not None)
                told = telling(getting.output_schema, field.name)
                yield Pair(listing, getting, field, argument, many, told, score)


def _fits(argument: str, field: str, listing: Tool, many: bool) -> int:
    """0: not; 1: by a word that many things have; 2: by a word of its own."""
    wanted, given = parts_of(argument), parts_of(field)
    if many and wanted:
        wanted = (*wanted[:-1], singular(wanted[-1]))
    if not wanted or not given:
        return 0
    if wanted == given:
        return 1 if len(wanted) == 1 and wanted[0] in _KEYS else 2
    things = {singular(word) for word in listing.things}
    if wanted[-1:] == given and given[0] in _KEYS and things & {singular(word) for word in wanted[:-1]}:
        return 2
    if given[-1:] == wanted and wanted[0] in _KEYS:
        return 1
    return 0


def _listed(schema: Mapping[str, Any]) -> Iterator[Field]:
    """Texts and numbers of the first item of each list in a result."""
    for name, parts in (members(schema, schema) or {}).items():
        for part in parts:
            for item in items(schema, part) or ():
                yield from _scalars(schema, item, f"$.{_step(name)}[0]")


def _scalars(root: Mapping[str, Any], schema: Any, before: str) -> Iterator[Field]:
    for name, parts in (members(root, schema) or {}).items():
        types = [allows(root, part) for part in parts]
        if _step(name) == name and all(each is not None and each <= {"string", "integer", "null"} for each in types):
            yield Field(name, f"{before}.{name}")


def _step(name: str) -> str:
    """A name as a step of a JSONPath; one that would have to be quoted is passed over by whoever compares."""
    return name if name.isidentifier() and name.isascii() else "['…']"


def telling(schema: Mapping[str, Any] | None, key: str) -> Field | None:
    """A text of a result that says something of the thing itself, and is not its key."""
    if schema is None:
        return None
    found = [
        f
        for f in _texts(schema)
        if f.name != key and parts_of(f.name)[-1:] not in (("id",), ("uuid",), ("uri",), ("url",))
    ]
    for name in _TELLING:
        for each in found:
            if each.name == name:
                return each
    return found[0] if found else None


def _texts(schema: Mapping[str, Any]) -> list[Field]:
    known = members(schema, schema) or {}
    if len(known) < 2:
        return []  # a wrapper with one member may be opened: then the path would be another
    return [
        Field(name, f"$.{name}")
        for name, parts in known.items()
        if _step(name) == name and all(allows(schema, part) == frozenset({"string"}) for part in parts)
    ]
