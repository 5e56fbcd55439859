"""Interchange: YAML -> nodes with their lines, from the events of libyaml, so that no depth and no alias can hurt.

Plain words are read as YAML 1.2 does: `yes` and `2025-01-01` are texts. Tags are not obeyed. An alias repeats its anchor, and
what it makes is counted.
"""

from __future__ import annotations

import re
from typing import Any

from mcpeval_dsl.interchange.trees.node import Builder, Kind, Node, Unreadable

_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


def read(text: str) -> tuple[Node, ...]:
    """The documents of a YAML stream. Raises Unreadable."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(f"it is no YAML: {error.problem or error.context}", mark.line + 1 if mark else 1) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unreadable(f"it is no YAML: {' '.join(str(error).split())[:200]}") from None
    return tuple(node for node in reader.build.roots if node.kind != "null")


class _Reader:
    def __init__(self) -> None:
        self.build = Builder()
        self.anchors: dict[str, Node] = {}

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1 if event.start_mark else 1
        if kind == "ScalarEvent":
            self._scalar(event, line)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            if self.build.wants_key:
                raise Unreadable("a key that is no text", line)
            self._named(event, Node("map" if kind == "MappingStartEvent" else "list", line))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self.build.close()
        elif kind == "AliasEvent":
            self._alias(event.anchor, line)
        elif kind == "DocumentStartEvent":
            self.anchors = {}

    def _named(self, event: Any, node: Node) -> None:
        if event.anchor:
            self.anchors[event.anchor] = node
        self.build.open(node)

    def _scalar(self, event: Any, line: int) -> None:
        if self.build.wants_key:
            self.build.key(event.value, line)
            return
        node = Node(_kind(event), line, event.value)
        if event.anchor:
            self.anchors[event.anchor] = node
        self.build.add(node)

    def _alias(self, anchor: str, line: int) -> None:
        found = self.anchors.get(anchor)
        if found is None:
            raise Unreadable(f"the alias `*{anchor}` stands before its anchor", line)
        if self.build.wants_key:
            self.build.key(found.raw, line)
            return
        self._copy(found)
        inside = self.build.inside
        if inside is not None and "<<" in inside.pairs and found.kind == "map":
            merged = inside.pairs.pop("<<")
            for key, value in merged.pairs.items():
                inside.pairs.setdefault(key, value)

    def _copy(self, node: Node) -> None:
        """An alias is written out, and so counted: a bomb of aliases ends at the limit of values."""
        stack: list[tuple[Node | None, str, int]] = [(node, "", 0)]
        while stack:
            each, key, line = stack.pop()
            if each is None:
                self.build.close()
                continue
            if self.build.wants_key:
                self.build.key(key, line)
            copied = Node(each.kind, each.line, each.raw)
            if each.kind not in ("map", "list"):
                self.build.add(copied)
                continue
            self.build.open(copied)
            stack.append((None, "", 0))
            stack.extend((item, "", 0) for item in reversed(each.items))
            stack.extend((value, k, each.key_lines.get(k, each.line)) for k, value in reversed(each.pairs.items()))


def _kind(event: Any) -> Kind:
    if not event.implicit[0] or (event.style is not None and event.style != ""):
        return "text"
    value = event.value
    if value in _NOTHING:
        return "null"
    if _TRUTH.fullmatch(value):
        return "bool"
    return "number" if _NUMBER.fullmatch(value) else "text"
