"""Plan, beside it: `mcpe.lock` as bytes, what the checker learns from it, and how two catalogues differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.plan import lock_reading
from mcpeval_dsl.plan.files import dump
from mcpeval_dsl.plan.lock_digest import HINTS, LOCK_FILE
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool

Part = Literal["tools", "schemas", "descriptions"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference; `part` is the word of `allow drift`, `tool` empty where it concerns the server."""

    part: Part
    tool: str
    what: str


def write(lock: Lock) -> bytes:
    """Servers and tools in order of name, keys sorted, each entry with its digest: the same catalogue gives the same bytes."""
    return dump(Lock(servers=tuple(_sealed(server) for server in sorted(lock.servers, key=lambda s: s.server))))


def _sealed(server: LockedServer) -> LockedServer:
    found = server.model_copy(update={"tools": tuple(sorted(server.tools, key=lambda t: t.name))})
    return found.model_copy(update={"sha256": lock_reading.sealed(found)})


def read(data: bytes, path: str = LOCK_FILE) -> Checked[Lock]:
    """The lock of a file; MCPE401 and 406 to 409 where it is none, or cannot be believed."""
    return lock_reading.read(data, path)


def merge(old: Lock | None, new: Iterable[LockedServer], keep: Iterable[str]) -> Lock:
    """`new` in place of what `old` said of those servers; servers that are not in `keep` are dropped."""
    found = {s.server: s for s in (old.servers if old is not None else ())}
    found.update({s.server: s for s in new})
    wanted = set(keep)
    return Lock(servers=tuple(found[name] for name in sorted(found) if name in wanted))


def known(lock: Lock | None) -> dict[str, KnownServer]:
    """What the checker may use without any contact: the tools of each server by name."""
    if lock is None:
        return {}
    return {s.server: KnownServer(s.server, {t.name: _known_tool(t) for t in s.tools}) for s in lock.servers}


def _known_tool(tool: LockedTool) -> KnownTool:
    hints = tool.annotations or {}
    given: dict[str, bool | None] = {
        field: value if isinstance(value := hints.get(name), bool) else None for field, name in HINTS.items()
    }
    return KnownTool(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        **given,
    )


def diff(old: LockedServer, new: LockedServer) -> tuple[Change, ...]:
    """How the catalogue met differs from the one locked, in order of tool; empty where both are equal."""
    if old.catalogue_sha256 == new.catalogue_sha256:
        return ()
    before, after = {t.name: t for t in old.tools}, {t.name: t for t in new.tools}
    found: list[Change] = []
    if old.instructions != new.instructions:
        found.append(Change("descriptions", "", "the server's instructions changed"))
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            found.append(Change("tools", name, f"tool `{name}` is gone"))
        elif name not in before:
            found.append(Change("tools", name, f"tool `{name}` is new"))
        elif before[name].sha256 != after[name].sha256:
            found.extend(_changes(before[name], after[name]))
    return tuple(found)


def _changes(old: LockedTool, new: LockedTool) -> list[Change]:
    found: list[Change] = []
    if old.input_schema != new.input_schema:
        found.append(Change("schemas", old.name, f"tool `{old.name}`: {_schema_change(old, new)}"))
    if old.output_schema != new.output_schema:
        found.append(Change("schemas", old.name, f"tool `{old.name}`: the schema of its result changed"))
    if old.annotations != new.annotations:
        found.append(Change("schemas", old.name, f"tool `{old.name}`: its hints changed"))
    for what in ("title", "description"):
        if getattr(old, what) != getattr(new, what):
            found.append(Change("descriptions", old.name, f"tool `{old.name}`: its {what} changed"))
    return found or [Change("schemas", old.name, f"tool `{old.name}` changed")]


def _schema_change(old: LockedTool, new: LockedTool) -> str:
    before, after = _properties(old), _properties(new)
    gone, added = sorted(before - after), sorted(after - before)
    parts = [
        f"argument{'s' * (len(names) > 1)} {', '.join(names)} {what}"
        for names, what in ((gone, "gone"), (added, "new"))
        if names
    ]
    return "; ".join(parts) or "the schema of its arguments changed"


def _properties(tool: LockedTool) -> set[str]:
    properties = (tool.input_schema or {}).get("properties")
    return set(properties) if isinstance(properties, dict) else set()


def permitted(changes: Iterable[Change], allowed: Iterable[str]) -> tuple[Change, ...]:
    """The changes that `allow drift …` does not tolerate."""
    words = set(allowed)
    return tuple(change for change in changes if change.part not in words)
