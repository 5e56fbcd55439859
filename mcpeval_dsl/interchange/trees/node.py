"""Interchange, first step: what a foreign file says, as a tree that knows its lines, whatever it was written in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["map", "list", "text", "number", "bool", "null"]

MOST_LEVELS = 100
MOST_NODES = 500_000


class Unreadable(Exception):
    """The file cannot be read as what it seems to be: `reason` in the user's words, at a 1-based `line`."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(slots=True)
class Node:
    """One value. `raw` is a scalar as it was written (a text without its quotes); `line` is 1-based.

    `pairs` of a map are in order, each key once: of a key that stands twice the last counts, and `twice` has its lines.
    """

    kind: Kind
    line: int
    raw: str = ""
    items: list[Node] = field(default_factory=list)
    pairs: dict[str, Node] = field(default_factory=dict)
    key_lines: dict[str, int] = field(default_factory=dict)
    twice: list[tuple[str, int]] = field(default_factory=list)

    def get(self, *keys: str) -> Node | None:
        """The first of the members that is there and is not null."""
        for key in keys:
            found = self.pairs.get(key)
            if found is not None and found.kind != "null":
                return found
        return None

    def text(self, *keys: str) -> str:
        """A scalar member as it was written; empty where there is none or it is no scalar."""
        found = self.get(*keys)
        return found.raw if found is not None and found.kind in ("text", "number", "bool") else ""

    def list_of(self, *keys: str) -> list[Node]:
        """The members of a list; a single value counts as a list of one."""
        found = self.get(*keys)
        if found is None:
            return []
        return found.items if found.kind == "list" else [found]

    def map_of(self, *keys: str) -> dict[str, Node]:
        found = self.get(*keys)
        return found.pairs if found is not None else {}

    def plain_map(self, *keys: str) -> dict[str, Any]:
        """The members of a map as JSON data; none where there is no map."""
        return {key: value.plain() for key, value in self.map_of(*keys).items()}

    def texts(self, *keys: str) -> list[str]:
        """The scalars of a list, as they were written."""
        return [node.raw for node in self.list_of(*keys) if node.kind in ("text", "number", "bool")]

    def flag(self, key: str) -> bool:
        found = self.pairs.get(key)
        return found is not None and found.kind == "bool" and found.raw.lower() == "true"

    def number(self, *keys: str) -> float | None:
        found = self.get(*keys)
        if found is None or found.kind not in ("number", "text"):
            return None
        try:
            value = float(found.raw)
        except ValueError:
            return None
        return value if abs(value) < 1e15 else None

    def whole(self, *keys: str) -> int | None:
        value = self.number(*keys)
        return int(value) if value is not None and value.is_integer() else None

    def line_of(self, key: str) -> int:
        return self.key_lines.get(key, self.line)

    def plain(self) -> Any:
        """The value as JSON data."""
        if self.kind == "map":
            return {key: value.plain() for key, value in self.pairs.items()}
        if self.kind == "list":
            return [item.plain() for item in self.items]
        return scalar(self)

    def walk(self) -> Iterator[Node]:
        """This node and all below, in order; without recursion."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed([*node.items, *node.pairs.values()]))


def scalar(node: Node) -> Any:
    if node.kind == "null":
        return None
    if node.kind == "bool":
        return node.raw.lower() == "true"
    if node.kind == "number":
        try:
            return int(node.raw)
        except ValueError:
            pass
        try:
            return float(node.raw)
        except ValueError:
            return node.raw
    return node.raw


class Builder:
    """Puts a tree together from what a scanner meets; both kinds of bomb end here, deep ones and wide ones."""

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self._open: list[Node] = []
        self._keys: list[tuple[str, int] | None] = []
        self._count = 0

    @property
    def inside(self) -> Node | None:
        return self._open[-1] if self._open else None

    @property
    def wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].kind == "map" and self._keys[-1] is None

    def key(self, key: str, line: int) -> None:
        self._keys[-1] = (key, line)

    def add(self, node: Node) -> None:
        self._count += 1
        if self._count > MOST_NODES:
            raise Unreadable(f"it has more than {MOST_NODES:,} values", node.line)
        parent = self.inside
        if parent is None:
            self.roots.append(node)
        elif parent.kind == "list":
            parent.items.append(node)
        else:
            key = self._keys[-1]
            assert key is not None
            if key[0] in parent.pairs:
                parent.twice.append(key)
            parent.pairs[key[0]] = node
            parent.key_lines[key[0]] = key[1]
            self._keys[-1] = None

    def open(self, node: Node) -> None:
        self.add(node)
        if len(self._open) >= MOST_LEVELS:
            raise Unreadable(f"it is nested more than {MOST_LEVELS} levels deep", node.line)
        self._open.append(node)
        self._keys.append(None)

    def close(self) -> Node:
        self._keys.pop()
        return self._open.pop()
