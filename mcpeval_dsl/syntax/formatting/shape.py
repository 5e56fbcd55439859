"""Formatting, step 2: words -> statements, blocks and brackets, each knowing how it reads on one line, if it can.

The tree of `syntax.tree` has no comments and no line breaks, so this one is made of the words themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from mcpeval_dsl.syntax.formatting.tokens import NOTHING, Gap, Word, merged
from mcpeval_dsl.syntax.machine import CLOSERS, END
from mcpeval_dsl.syntax.one_line import GLUED_AFTER, GLUED_BEFORE

OPERATORS = frozenset({"in", "has", "under"})  # or a name, which depends on what follows
_BRACKETS = frozenset({"LPAR", "LSQB", "_IDX", "_OBJ"})


@dataclass(slots=True)
class Leaf:
    """One word; `gap` is what stands before it. `flat` is None for a text of several lines."""

    kind: str
    text: str
    gap: Gap
    spaced: bool  # a blank stands before it
    flat: str | None
    size: int


@dataclass(slots=True)
class Element:
    """What stands between two commas of a bracket, and the gap before it."""

    gap: Gap
    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Bracket:
    """`( )`, `[ ]` or an object. `open` says that each element has lines of its own; `end` is the gap at its end."""

    kind: str
    opener: str
    closer: str
    gap: Gap
    spaced: bool
    elements: list[Element]
    end: Gap
    open: bool
    flat: str | None
    size: int
    need: int  # width it needs at the least, with all brackets inside it open


Node: TypeAlias = Leaf | Bracket


@dataclass(slots=True)
class Block:
    """`flat` is how it reads on one line, where it was written so; `end` is the gap before its `}`."""

    statements: list[Statement]
    end: Gap
    flat: str | None


@dataclass(slots=True)
class Statement:
    """The gap before it, the nodes of its head, and its block, if it has one."""

    gap: Gap
    nodes: list[Node]
    block: Block | None
    flat: str | None


@dataclass(slots=True)
class Shape:
    """A whole file; `end` is the gap before its end."""

    statements: list[Statement]
    end: Gap


def shape(words: list[Word]) -> Shape:
    """The statements of a file that is free of syntax errors."""
    statements = _Reader(words[:]).statements(END)
    return Shape(statements, words[-1].gap)


def flat_nodes(nodes: list[Node]) -> str | None:
    """The nodes on one line, or None where they need several."""
    parts: list[str] = []
    for node in nodes:
        if node.flat is None:
            return None
        if node.spaced and parts:
            parts.append(" ")
        parts.append(node.flat)
    return "".join(parts)


def needed(nodes: list[Node]) -> int:
    """Width of the widest line of the nodes where every bracket is open; lines of texts do not count."""
    widest = column = 0
    for node in nodes:
        column += node.spaced
        if isinstance(node, Bracket) and node.elements:
            widest = max(widest, column + 1, node.need)
            column = 1
        elif node.flat is None and isinstance(node, Leaf):
            column = len(node.text) - node.text.rfind("\n")
        else:
            column += node.size
        widest = max(widest, column)
    return widest


def is_operator_word(node: Node) -> bool:
    """Whether it depends on what follows if the node is a name or an operator."""
    return isinstance(node, Leaf) and (node.text in OPERATORS or node.text == "not")


class _Reader:
    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.at = 0

    def statements(self, closer: str) -> list[Statement]:
        found = []
        while self.words[self.at].kind != closer:
            found.append(self.statement())
        return found

    def statement(self) -> Statement:
        words, gap = self.words, self.words[self.at].gap
        nodes: list[Node] = []
        block: Block | None = None
        previous, broken = "", False
        while True:
            word = words[self.at]
            if nodes and _ended(word, previous):
                break
            if word.kind == "LBRACE" and not self.is_value(previous):
                block = self.block(nodes[-1])
                break
            if nodes and word.gap.newline:
                broken = broken or len(nodes) > 1 or word.gap.commented or is_operator_word(nodes[0])
            nodes.append(self.node(word, previous))
            previous = self.words[self.at - 1].kind
        flat = None if broken else flat_nodes(nodes)
        if flat is not None and block is not None:
            flat = None if block.flat is None else f"{flat} {block.flat}"
        return Statement(gap, nodes, block, flat)

    def is_value(self, previous: str) -> bool:
        """Whether the `{` here is the empty object: behind an operator, and with nothing in it."""
        return previous in ("EQUAL", "CMP") and self.words[self.at + 1].kind == "RBRACE"

    def node(self, word: Word, previous: str) -> Node:
        spaced = bool(previous) and previous not in GLUED_AFTER and word.kind not in GLUED_BEFORE
        self.at += 1
        if word.kind in _BRACKETS or word.kind == "LBRACE":
            return self.bracket(word, spaced)
        text = " ".join(word.text.split()) if word.kind == "CMP" else word.text
        flat = None if "\n" in text else text
        return Leaf(word.kind, text, word.gap if previous else NOTHING, spaced, flat, len(text))

    def bracket(self, opener: Word, spaced: bool) -> Bracket:
        closer = CLOSERS[opener.kind]
        elements: list[Element] = []
        open_ = False
        while self.words[self.at].kind != closer:
            element, commented = self.element(closer)
            open_ = open_ or commented or element.gap.commented or (not elements and element.gap.newline)
            elements.append(element)
        end = self.words[self.at]
        self.at += 1
        open_ = open_ or end.gap.commented
        flat = None
        if not open_:
            parts = [flat_nodes(element.nodes) for element in elements]
            if None not in parts:
                flat = opener.text + ", ".join(p for p in parts if p is not None) + end.text
        size = len(flat) if flat is not None else 2 + sum(n.size + 1 for e in elements for n in e.nodes)
        need = 3 + max((needed(element.nodes) for element in elements), default=0)
        return Bracket(
            opener.kind, opener.text, end.text, opener.gap, spaced, elements, end.gap, open_, flat, size, need
        )

    def element(self, closer: str) -> tuple[Element, bool]:
        """The next element, and whether a comment stands inside it. Its comma is passed over; comments move behind it."""
        element = Element(self.words[self.at].gap)
        previous, commented = "", False
        while (word := self.words[self.at]).kind not in ("COMMA", closer):
            commented = commented or (bool(previous) and word.gap.commented)
            element.nodes.append(self.node(word, previous))
            previous = self.words[self.at - 1].kind
        if word.kind == "COMMA":
            self.at += 1
            behind = self.words[self.at]
            self.words[self.at] = behind._replace(gap=merged(word.gap, behind.gap))
        return element, commented

    def block(self, before: Node) -> Block:
        self.at += 1
        statements = self.statements("RBRACE")
        end = self.words[self.at].gap
        self.at += 1
        flat = _flat_block(statements, end)
        if flat == "{}" and is_operator_word(before):
            flat = None  # `under {}` would be an operator and an empty object
        return Block(statements, end, flat)


def _ended(word: Word, previous: str) -> bool:
    """Whether the statement ends before `word`: newlines mean what they mean to the parser."""
    if word.kind in ("RBRACE", END) or word.gap.ends:
        return True
    return word.gap.newline and previous != "COMMA" and word.kind != "CMP"


def _flat_block(statements: list[Statement], end: Gap) -> str | None:
    if not statements:
        return None if end.commented else "{}"
    if end.newline or any(statement.gap.newline for statement in statements):
        return None
    parts = [statement.flat for statement in statements]
    return None if None in parts else "{ " + "; ".join(p for p in parts if p is not None) + " }"
