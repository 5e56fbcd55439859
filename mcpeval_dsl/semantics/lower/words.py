"""Semantics, lowering: reads the operands of a statement in order."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.semantics.lower.context import Unlowerable
from mcpeval_dsl.semantics.symbols import word
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Comparison, Directive, Group, Item, Name, Number, Ref, String, Value


class Words:
    """A cursor over the items of one group."""

    __slots__ = ("index", "items", "span")

    def __init__(self, items: Sequence[Item], span: Span) -> None:
        self.items = items
        self.span = span
        self.index = 0

    @classmethod
    def of(cls, statement: Directive, group: int = 0) -> Words:
        """The items of a statement's group; none where there are no operands."""
        if group < len(statement.groups):
            chosen = statement.groups[group]
            return cls(chosen.items, chosen.span)
        return cls((), statement.name.span)

    @classmethod
    def group(cls, group: Group) -> Words:
        return cls(group.items, group.span)

    def peek(self) -> Item | None:
        return self.items[self.index] if self.index < len(self.items) else None

    def __bool__(self) -> bool:
        return self.index < len(self.items)

    @property
    def place(self) -> Span:
        item = self.peek()
        return item.span if item is not None else self.span

    def take(self, *words: str) -> str | None:
        """Consume one of the bare words, when it stands next."""
        text = word(self.peek())
        if text is not None and text in words:
            self.index += 1
            return text
        return None

    def item(self, wanted: str = "a value") -> Item:
        item = self.peek()
        if item is None:
            raise Unlowerable(self.span, f"{wanted} is missing")
        self.index += 1
        return item

    def value(self, wanted: str = "a value") -> Value:
        item = self.item(wanted)
        if isinstance(item, Comparison):
            raise Unlowerable(item.span, f"{wanted} is wanted, not a comparison")
        return item

    def comparison(self, wanted: str = "a condition such as `x == 1`") -> Comparison:
        item = self.item(wanted)
        if not isinstance(item, Comparison):
            raise Unlowerable(item.span, f"{wanted} is wanted")
        return item

    def name(self, wanted: str = "a name") -> Name:
        item = self.item(wanted)
        if isinstance(item, Ref) and not item.postfixes and isinstance(item.root, Name):
            return item.root
        raise Unlowerable(item.span, f"{wanted} is wanted")

    def string(self, wanted: str = "a text in quotes") -> String:
        item = self.item(wanted)
        if isinstance(item, String):
            return item
        raise Unlowerable(item.span, f"{wanted} is wanted")

    def number(self, wanted: str = "a number") -> Number:
        item = self.item(wanted)
        if isinstance(item, Number):
            return item
        raise Unlowerable(item.span, f"{wanted} is wanted")

    def end(self) -> None:
        """Refuse anything that is left, so that nothing is ever ignored."""
        item = self.peek()
        if item is not None:
            raise Unlowerable(item.span, "nothing more is wanted here")


def names(statement: Directive) -> list[Name]:
    """`NAME, NAME …`."""
    found = []
    for group in statement.groups:
        words = Words.group(group)
        found.append(words.name())
        words.end()
    return found


def only(statement: Directive) -> Words:
    """The items of a statement that takes one group."""
    if len(statement.groups) > 1:
        raise Unlowerable(statement.groups[1].span, "no comma is wanted here")
    return Words.of(statement)
