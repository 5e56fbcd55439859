"""Plan, beside the lock: how two locks differ, each change classed by what it does to evaluations.

`breaking`: a call that worked may be refused, or a result that was read may not be there. `behavioural`: every call still
works, but agents see or may do something else. `cosmetic`: neither. The table is in `docs/lock.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool
from mcpeval_dsl.plan.schema_changes import SchemaChange, compare

Class = Literal["breaking", "behavioural", "cosmetic"]
CLASSES: tuple[Class, ...] = ("breaking", "behavioural", "cosmetic")
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@dataclass(frozen=True, slots=True)
class LockChange:
    """`kind` names the row of the table; `path` leads into the schema where one is meant; `tool` may be empty."""

    server: str
    tool: str
    kind: str
    classed: Class
    path: str
    what: str


def compare_locks(old: Lock, new: Lock) -> tuple[LockChange, ...]:
    """Every change in order of server and tool. The order of servers, tools and keys is none."""
    before, after = _named(old.servers), _named(new.servers)
    found: list[LockChange] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            found.append(LockChange(name, "", "server gone", "breaking", "", "the server is gone"))
        elif name not in before:
            found.append(LockChange(name, "", "server new", "behavioural", "", "the server is new"))
        else:
            found.extend(compare_servers(before[name], after[name]))
    return tuple(found)


def _named(servers: Iterable[LockedServer]) -> dict[str, LockedServer]:
    return {server.server: server for server in servers}


def compare_servers(old: LockedServer, new: LockedServer) -> tuple[LockChange, ...]:
    """The changes of one server: itself first, then its tools in order of name."""
    found = [*_of_server(old, new)]
    before, after = {t.name: t for t in old.tools}, {t.name: t for t in new.tools}
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            found.append(LockChange(new.server, name, "tool gone", "breaking", "", "the tool is gone"))
        elif name not in before:
            found.append(LockChange(new.server, name, "tool new", "behavioural", "", "the tool is new"))
        elif before[name] != after[name]:
            found.extend(_of_tool(new.server, before[name], after[name]))
    return tuple(found)


def _of_server(old: LockedServer, new: LockedServer) -> Iterator[LockChange]:
    def change(kind: str, classed: Class, what: str) -> LockChange:
        return LockChange(new.server, "", kind, classed, "", what)

    if old.instructions != new.instructions:
        yield change("instructions", "behavioural", "its instructions changed")
    if (old.revision, old.era) != (new.revision, new.era):
        yield change("revision", "behavioural", f"protocol revision {old.revision} became {new.revision}")
    if old.transport != new.transport:
        yield change("transport", "behavioural", f"it is reached by {new.transport} and no longer by {old.transport}")
    for name in sorted(old.capabilities.keys() - new.capabilities.keys()):
        yield change("capability gone", "breaking", f"it no longer has the capability `{name}`")
    for name in sorted(new.capabilities.keys() - old.capabilities.keys()):
        yield change("capability new", "behavioural", f"it has the capability `{name}` now")
    shared = old.capabilities.keys() & new.capabilities.keys()
    for name in sorted(n for n in shared if old.capabilities[n] != new.capabilities[n]):
        yield change("capability", "behavioural", f"what it says of its capability `{name}` changed")
    if old.title != new.title:
        yield change(
            "server name",
            "cosmetic",
            f"it calls itself {new.title or 'nothing'} and no longer {old.title or 'nothing'}",
        )
    if old.version != new.version:
        yield change("version", "cosmetic", f"version {old.version or 'unknown'} became {new.version or 'unknown'}")


def _of_tool(server: str, old: LockedTool, new: LockedTool) -> Iterator[LockChange]:
    def change(kind: str, classed: Class, what: str, path: str = "") -> LockChange:
        return LockChange(server, new.name, kind, classed, path, what)

    mark = _Count()
    if (old.input_schema is None) != (new.input_schema is None):
        broken = new.input_schema is None
        what = "its definition is broken now" if broken else "its definition is whole now"
        yield mark(change("definition", "breaking" if broken else "behavioural", what))
    elif old.input_schema is not None and new.input_schema is not None:
        for found in compare(old.input_schema, new.input_schema):
            kind, classed = _argument(found)
            yield mark(change(kind, classed, _said("argument", found), found.path))
    yield from map(mark, _of_output(change, old.output_schema, new.output_schema))
    yield from map(mark, _of_hints(change, old.annotations or {}, new.annotations or {}))
    if old.description != new.description:
        yield mark(change("description", "behavioural", "its description changed"))
    if old.title != new.title:
        yield mark(change("title", "cosmetic", "its title changed"))
    if not mark.seen:
        # its digest is over what the server sent, and that has more than the lock keeps
        yield change("other members", "cosmetic", "something changed that no agent is shown")


class _Count:
    """Passes changes on, and remembers whether there was any."""

    seen = False

    def __call__(self, change: LockChange) -> LockChange:
        self.seen = True
        return change


def _said(noun: str, found: SchemaChange) -> str:
    return f"{noun} `{found.path}` {found.what}" if found.path else f"its {noun}s: {found.what}"


def _argument(found: SchemaChange) -> tuple[str, Class]:
    """Callers keep to the schema: what is narrower breaks calls."""
    if found.member:
        breaks = found.member in ("gone", "new and required", "required")
        return f"argument {found.member}", "breaking" if breaks else "behavioural"
    if found.way == "cosmetic":
        return "argument in other words", "cosmetic"
    if found.way == "described":
        return "argument described", "behavioural"
    return f"argument {found.way}", "behavioural" if found.way == "wider" else "breaking"


def _result(found: SchemaChange) -> tuple[str, Class]:
    """The server keeps to the schema: what is wider breaks who reads the result."""
    if found.member:
        return f"result {found.member}", "breaking" if found.member in ("gone", "optional") else "behavioural"
    if found.way == "cosmetic":
        return "result in other words", "cosmetic"
    if found.way == "described":
        return "result described", "behavioural"
    return f"result {found.way}", "behavioural" if found.way == "narrower" else "breaking"


Make = Callable[..., LockChange]


def _of_output(change: Make, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[LockChange]:
    if old is None and new is not None:
        yield change("result schema new", "behavioural", "its result has a schema now")
    elif new is None and old is not None:
        yield change("result schema gone", "breaking", "its result has no schema any more")
    elif old is not None and new is not None:
        for found in compare(old, new):
            kind, classed = _result(found)
            yield change(kind, classed, _said("result", found), found.path)


def _of_hints(change: Make, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[LockChange]:
    for name in _HINTS:
        if old.get(name) != new.get(name):
            said = [str(side[name]).lower() if name in side else "not given" for side in (old, new)]
            yield change("hint", "behavioural", f"{name} was {said[0]} and is {said[1]}")
    if {k: v for k, v in old.items() if k not in _HINTS} != {k: v for k, v in new.items() if k not in _HINTS}:
        yield change("title", "cosmetic", "its annotations say something else that is no hint")
