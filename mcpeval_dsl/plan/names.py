"""Plan, before keys: what an expression tree refers to (names, servers, literal texts), without evaluating it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from mcpeval_dsl.semantics.expressions import Literal, Ref, Resource, Select, Template, ToolCall
from mcpeval_dsl.semantics.model import Let


@dataclass(slots=True)
class Uses:
    """Roots of names, servers called and literal texts, in no order that matters."""

    names: set[str] = field(default_factory=set)
    servers: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def merge(self, other: Uses) -> None:
        self.names |= other.names
        self.servers |= other.servers
        self.texts |= other.texts


@cache
def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if f.name not in ("at", "kind"))


def parts_of(value: object) -> Sequence[object]:
    """What a typed value is made of, places and kinds apart; nothing for scalars."""
    if isinstance(value, tuple | list):
        return value
    if value is None or isinstance(value, str | int | float) or not is_dataclass(value):
        return ()
    cls: Any = type(value)
    return [getattr(value, name) for name in _field_names(cls)]


def uses(*values: object) -> Uses:
    """Everything that any of the values refers to; each node is visited once."""
    found = Uses()
    stack: list[object] = list(values)
    while stack:
        value = stack.pop()
        _note(value, found)
        stack.extend(parts_of(value))
    return found


def _note(value: object, found: Uses) -> None:
    if isinstance(value, Ref):
        found.names.add(str(value.path[0]))
    elif isinstance(value, Template):
        found.names.update(value.names)
        found.texts.add(value.text)
    elif isinstance(value, Select):
        found.names.update(value.names)
    elif isinstance(value, Literal):
        if isinstance(value.value, str):
            found.texts.add(value.value)
    elif isinstance(value, ToolCall | Resource) and value.server is not None:
        found.servers.add(value.server)


def with_lets(found: Uses, lets: Mapping[str, Let], uses_of_lets: Mapping[str, Uses]) -> tuple[str, ...]:
    """Names of the lets used, also through other lets; `found` grows by what those refer to."""
    chosen: set[str] = set()
    todo = [name for name in found.names if name in lets]
    while todo:
        name = todo.pop()
        if name in chosen:
            continue
        chosen.add(name)
        inner = uses_of_lets[name]
        found.merge(inner)
        todo.extend(n for n in inner.names if n in lets)
    return tuple(sorted(chosen))


def let_uses(lets: Iterable[Let]) -> dict[str, Uses]:
    return {let.name: uses(let.value) for let in lets}
