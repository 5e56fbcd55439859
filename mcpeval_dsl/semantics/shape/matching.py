"""Semantics, shape: the items of a statement against the operands its directive takes.

A recursive descent over the table's operand language. It remembers the furthest place at which nothing fitted and what
was wanted there, from which the one message about the statement is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.directives import directives_in, grader_named
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.blocks import GRADERS
from mcpeval_dsl.semantics.directives.model import Directive
from mcpeval_dsl.semantics.shape.items import Row, bare
from mcpeval_dsl.semantics.shape.leaves import ACCEPT, FITS, NEAR, OTHER
from mcpeval_dsl.syntax import tree

FAILED = -1


@dataclass(frozen=True, slots=True)
class Matched:
    """A statement read by the table: its directive, what its items are by label, and which grader it names."""

    directive: Directive
    operands: tuple[tuple[op.Leaf, tree.Item], ...]
    grader: Directive | None = None
    negated: bool = False

    def get(self, label: str) -> tree.Item | None:
        """The first item with this label."""
        return next((item for leaf, item in self.operands if op.label_of(leaf) == label), None)

    def every(self, label: str) -> tuple[tree.Item, ...]:
        """All items with this label, in order."""
        return tuple(item for leaf, item in self.operands if op.label_of(leaf) == label)


class Matching:
    """One attempt to match a row of items; `far`, `wanted` and `rank` tell how far it got and what was missing."""

    __slots__ = ("captures", "far", "grader", "negated", "rank", "row", "separable", "wanted")

    def __init__(self, row: Row, negated: bool = False) -> None:
        self.row = row
        self.captures: list[tuple[op.Leaf, tree.Item]] = []
        self.far = -1
        self.rank = OTHER
        self.wanted: list[op.Leaf] = []
        self.separable: tuple[int, op.Operand] | None = None
        self.grader: Directive | None = None
        self.negated = negated

    def match(self, operand: op.Operand, at: int) -> int:
        """Where the operand ends, or FAILED."""
        combine = _COMBINE.get(type(operand))
        if combine is not None:
            return combine(self, operand, at)
        return self.leaf(operand, at)  # type: ignore[arg-type]  # all that does not combine is a leaf

    def fail(self, at: int, rank: int, leaf: op.Leaf) -> int:
        if at > self.far or (at == self.far and rank > self.rank):
            self.far, self.rank, self.wanted = at, rank, [leaf]
        elif at == self.far and rank == self.rank:
            self.wanted.append(leaf)
        return FAILED

    def leaf(self, leaf: op.Leaf, at: int) -> int:
        row = self.row
        if at >= len(row):
            return self.fail(at, OTHER, leaf)
        item = row[at]
        if item is None:
            return self.fail(at, OTHER, leaf)
        rank = ACCEPT[type(leaf)](leaf, item)
        if rank != FITS:
            return self.fail(at, rank, leaf)
        self.captures.append((leaf, item))
        return at + 1

    def sequence(self, operand: op.Sequence, at: int) -> int:
        for part in operand.parts:
            at = self.match(part, at)
            if at == FAILED:
                return FAILED
        return at

    def attempt(self, operand: op.Operand, at: int) -> int:
        """Match, and forget what was captured when it fails."""
        kept = len(self.captures)
        end = self.match(operand, at)
        if end == FAILED:
            del self.captures[kept:]
        return end

    def maybe(self, operand: op.Maybe, at: int) -> int:
        end = self.attempt(operand.part, at)
        return at if end == FAILED else end

    def options(self, operand: op.Options, at: int) -> int:
        left = list(operand.parts)
        while left:
            for part in left:
                end = self.attempt(part, at)
                if end != FAILED:
                    at = end
                    left.remove(part)
                    break
            else:
                break
        return at

    def choice(self, operand: op.Choice, at: int) -> int:
        for part in operand.parts:
            end = self.attempt(part, at)
            if end != FAILED:
                return end
        return FAILED

    def commas(self, operand: op.Commas, at: int) -> int:
        row = self.row
        end = self.match(operand.part, at)
        while end != FAILED and end < len(row):
            if row[end] is not None:
                self.separable = (end, operand.part)
                break
            end = self.match(operand.part, end + 1)
        return end

    def argv(self, leaf: op.Argv, at: int) -> int:
        row = self.row
        first = row[at] if at < len(row) else None
        if isinstance(first, tree.ListValue):
            if not first.items:
                return self.fail(at, NEAR, leaf)
            self.captures.append((leaf, first))
            return at + 1
        start = at
        while at < len(row):
            item = row[at]
            if not isinstance(item, (tree.String, tree.Ref)):
                break
            self.captures.append((leaf, item))
            at += 1
        if at == start:
            return self.fail(at, OTHER, leaf)
        if at < len(row):
            self.fail(at, OTHER, leaf)
        return at

    def named_grader(self, leaf: op.Grader, at: int) -> int:
        row = self.row
        if at < len(row) and bare(row[at]) == "not" and not self.negated:
            self.negated = True
            at += 1
        name = bare(row[at]) if at < len(row) else None
        entry = grader_named(name) if name else None
        if entry is None or (self.negated and not entry.negatable):
            entries = directives_in("grade_any")
            fitting = tuple(g for g in GRADERS if not self.negated or entries[g].negatable)
            return self.fail(at, OTHER, op.Word(fitting, "grader"))
        self.grader = entry
        return self.match(entry.operands, at + 1)


def last_directive(row: Row, words: dict[str, Directive]) -> Directive | None:
    """The directive (or grader) that stands last among the items of another one: the one a block behind them is of."""
    last: Directive | None = None
    after_grade = False
    for item in row:
        entry = words.get(bare(item) or "")
        if after_grade:
            last = grader_named(bare(item) or "")
        elif entry is not None:
            last = entry
        after_grade = not after_grade and entry is not None and isinstance(entry.operands, op.Grader)
    return last


_COMBINE: dict[type, Callable[[Matching, Any, int], int]] = {
    op.Sequence: Matching.sequence,
    op.Maybe: Matching.maybe,
    op.Options: Matching.options,
    op.Choice: Matching.choice,
    op.Commas: Matching.commas,
    op.Argv: Matching.argv,
    op.Grader: Matching.named_grader,
    op.Assign: lambda matching, operand, at: matching.fail(at, OTHER, operand),
    op.Below: lambda matching, operand, at: matching.fail(at, OTHER, operand),
}
