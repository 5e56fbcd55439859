"""Semantics, shape: the items of a statement in one row, and small questions about them."""

from __future__ import annotations

from typing import TypeAlias

from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import CallSuffix, Directive, Glob, Group, Item, Name, Ref, String

Row: TypeAlias = list[Item | None]
"""Items in order; None is a comma between two groups."""


def row_of(groups: tuple[Group, ...]) -> Row:
    """All items of a statement, commas included."""
    if not groups:
        return []
    if len(groups) == 1:
        return list(groups[0].items)
    row: Row = list(groups[0].items)
    for group in groups[1:]:
        row.append(None)
        row.extend(group.items)
    return row


def bare(item: object) -> str | None:
    """The word, if the item is a bare word and nothing else."""
    if isinstance(item, Ref) and not item.postfixes and isinstance(item.root, Name):
        return item.root.text
    return None


def is_glob(item: object) -> bool:
    return isinstance(item, Glob) or (isinstance(item, Ref) and isinstance(item.root, Glob))


def has_call(ref: Ref) -> bool:
    return any(isinstance(p, CallSuffix) for p in ref.postfixes)


def word_like(text: String) -> bool:
    """Whether the text could stand without its quotes."""
    value = text.value
    return value.replace("-", "_").isidentifier() and value.isascii() and not value.startswith("-")


def comma_before(statement: Directive, index: int) -> Span:
    """The comma that stands before the group `index`."""
    left, right = statement.groups[index - 1].span, statement.groups[index].span
    at = left.file.text.find(",", left.end, right.start)
    return Span(left.file, at, at + 1) if at >= 0 else left


def swallowed(statement: Directive, words: object) -> int | None:
    """Index of a group that begins a new line with one of `words`: most likely a statement a comma has swallowed."""
    groups = statement.groups
    if len(groups) < 2 or not isinstance(words, dict):
        return None
    for index in range(1, len(groups)):
        if bare(groups[index].items[0]) in words:
            left, right = groups[index - 1].span, groups[index].span
            if "\n" in left.file.text[left.end : right.start]:
                return index
    return None
