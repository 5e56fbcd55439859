"""Formatting, inside step 3: which brackets of a line that is too wide are opened."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from mcpeval_dsl.syntax.formatting.lines import STEP, WIDTH
from mcpeval_dsl.syntax.formatting.shape import Bracket, Node


class Outline(NamedTuple):
    """Width of the first line, of the widest, and of the last one; lines inside open brackets do not count."""

    first: int
    widest: int
    last: int


def outline(nodes: Sequence[Node], column: int, base: int, opened: Collection[int] = ()) -> Outline:
    """How wide lines get, where writing begins at `column`. `opened` are ids of brackets to be opened."""
    first, widest = -1, 0
    for number, node in enumerate(nodes):
        column += node.spaced and number > 0
        if node.flat is not None and id(node) not in opened:
            column += len(node.flat)
            continue
        if not isinstance(node, Bracket):
            begin = column + node.text.index("\n")
            last = base + STEP + len(node.text) - 1 - max(node.text.rfind("\n"), node.text.rfind(" "))
        elif node.open or id(node) in opened:
            begin, last = column + len(node.opener), base + len(node.closer)
        else:
            begin, inside, last = _inside(node, column, base)
            widest = max(widest, inside)
        first = begin if first < 0 else first
        widest, column = max(widest, begin), last
    return Outline(column if first < 0 else first, max(widest, column), column)


def _inside(bracket: Bracket, column: int, base: int) -> Outline:
    """A bracket that is not open, though something inside it has several lines."""
    column += len(bracket.opener)
    first, widest = -1, 0
    for number, element in enumerate(bracket.elements):
        found = outline(element.nodes, column + 2 * (number > 0), base)
        if first < 0 and found.first != found.last:
            first = found.first
        widest, column = max(widest, found.widest), found.last
    return Outline(column if first < 0 else first, widest, column + len(bracket.closer))


def to_open(nodes: Sequence[Node], column: int, base: int, tail: int) -> frozenset[int]:
    """Ids of the brackets to open so that the nodes and `tail` more characters fit: the widest, else all, else none."""
    found = outline(nodes, column, base)
    if max(found.widest, found.last + tail) <= WIDTH:
        return frozenset()
    closed = [n for n in nodes if isinstance(n, Bracket) and n.elements and not n.open]
    for chosen in ([max(closed, key=lambda n: n.size)], closed) if closed else ():
        ids = frozenset(id(node) for node in chosen)
        found = outline(nodes, column, base, ids)
        needed = base + max(node.need for node in chosen)
        if max(found.widest, found.last + tail, needed) <= WIDTH:
            return ids
    return frozenset()
