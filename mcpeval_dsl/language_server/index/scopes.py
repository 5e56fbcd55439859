"""Language server, index: names that only a part of a spec sees, while its statements are walked."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpeval_dsl.language_server.index.model import Key
from mcpeval_dsl.semantics.directives.variables import VARIABLES

_VARIABLES = frozenset(v.name for v in VARIABLES)


@dataclass(slots=True)
class Scope:
    """Name -> (its key, the key whose fields it has), innermost first."""

    names: dict[str, tuple[Key, Key]] = field(default_factory=dict)
    parent: Scope | None = None

    def child(self) -> Scope:
        return Scope({}, self)

    def define(self, name: str, key: Key, fields: Key | None = None) -> None:
        self.names[name] = (key, key if fields is None else fields)

    def find(self, name: str) -> tuple[Key, Key] | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def visible(self) -> dict[str, tuple[Key, Key]]:
        """All names of this scope and those around it; inner ones hide outer ones."""
        found: dict[str, tuple[Key, Key]] = {}
        scope: Scope | None = self
        while scope is not None:
            for name, keys in scope.names.items():
                found.setdefault(name, keys)
            scope = scope.parent
        return found


def value_keys(scope: Scope, name: str) -> tuple[Key, ...]:
    """What a bare name in a value may mean, most likely first."""
    local = scope.find(name)
    if local is not None:
        return (local[0],)
    keys: tuple[Key, ...] = (("value", name), ("environment", name))
    return (*keys, ("variable", name)) if name in _VARIABLES else keys


def field_keys(scope: Scope, root: str, name: str) -> tuple[Key, ...]:
    """What `root.name` may mean."""
    local = scope.find(root)
    if local is not None:
        return (("field", local[1], name),)
    if root == "port":
        return (("port", name),)
    return (("field", ("value", root), name), ("field", ("environment", root), name))
