"""Language server, index: what may stand where the cursor is, by the table of directives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from mcpeval_dsl.language_server.index.cursor import WORD, Cursor
from mcpeval_dsl.language_server.index.values import written
from mcpeval_dsl.semantics.directives import directive_for
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.patterns import COMBINATORS
from mcpeval_dsl.semantics.shape.items import row_of
from mcpeval_dsl.semantics.shape.matching import Matching
from mcpeval_dsl.syntax import tree

Mode = Literal["value", "source", "pattern", "metric", "segment"]


@dataclass(frozen=True, slots=True)
class Callee:
    """What is being called. `server` is '' where a pattern names the tool alone."""

    kind: Literal["tool", "function", "combinator"]
    name: str
    server: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to fill.

    `leaves` of the table may begin here (with `left`: as the right side of that comparison); `chain` are the names before
    a dot; inside a call, `argument` is the one whose value is typed and `steps` the way into it, `given` are those there
    are. `what` tells which of these count.
    """

    what: Literal["statement", "operand", "member", "argument", "key", "value"]
    mode: Mode = "value"
    leaves: tuple[op.Leaf, ...] = ()
    left: tree.Value | None = None
    operator: str = ""
    chain: tuple[str, ...] = ()
    callee: Callee | None = None
    argument: str = ""
    given: tuple[str, ...] = ()
    steps: tuple[str | int, ...] = ()


def slot(cursor: Cursor) -> Slot | None:
    """The place at a cursor; None where the statement is lost."""
    way = cursor.way
    if not way:
        return None
    statement, rest = way[0], way[1:]
    if isinstance(statement, tree.Directive):
        if rest[0] is statement.name:
            return Slot("statement")
        return _in_directive(statement, rest, cursor.kind)
    if isinstance(statement, tree.Action):
        if len(rest) > 1 and rest[1] is statement.ref.root:
            return Slot("statement")
        return _down(rest, Slot("value", "source"))
    if isinstance(statement, tree.NamedBinding):
        if rest[0] is not statement.value:
            return None
        assign = _assign(statement.keyword.text, cursor.kind)
        return _down(rest, Slot("value", "source" if assign == "source" else "value"))
    if isinstance(statement, tree.Binding):
        if rest[0] is not statement.value:
            return None
        left = tree.Ref(statement.name, (), statement.name.span) if cursor.kind == "matrix" else None
        return _down(rest, Slot("value", "segment" if left else "value", (), left))
    return _in_bound(statement, rest, cursor.kind)


def _assign(keyword: str, kind: str) -> str:
    entry = directive_for(keyword, kind)
    return entry.operands.value if entry is not None and isinstance(entry.operands, op.Assign) else "value"


def _in_bound(statement: tree.Bound, rest: tuple[Any, ...], kind: str) -> Slot | None:
    name = statement.comparison.left
    entry = directive_for(name.root.text, kind) if isinstance(name, tree.Ref) else None
    leaves = (entry.operands,) if entry is not None and isinstance(entry.operands, op.Below) else ()
    return _down(rest, Slot("value", "value", leaves))


def _in_directive(statement: tree.Directive, way: tuple[Any, ...], kind: str) -> Slot | None:
    if not isinstance(way[0], tree.Group):
        return None
    item = way[1]
    row = row_of(statement.groups)
    number = next(i for i, member in enumerate(row) if member is item)
    leaves = expected(statement.name.text, kind, row[:number])
    if len(way) > 2 and isinstance(item, tree.Ref) and way[2] is item.root and not item.postfixes:
        return Slot("operand", _mode(leaves), leaves)
    if not leaves:
        return _down(way[1:], Slot("value"))
    return _down(way[1:], Slot("value", _mode(leaves), leaves))


def expected(name: str, kind: str, row: list[Any]) -> tuple[op.Leaf, ...]:
    """The leaves that may come behind the items of a directive."""
    entry = directive_for(name, kind)
    if entry is None:
        return ()
    matching = Matching(row, negated=name == "not")
    matching.match(entry.operands, 0)
    if matching.captures and isinstance(matching.captures[-1][0], op.Argv):
        return (matching.captures[-1][0],)  # takes as many as there are
    if matching.far != len(row):
        return ()
    # leaves are named tuples: two of different kinds may be equal
    return tuple({(type(leaf), leaf): leaf for leaf in matching.wanted}.values())


def _mode(leaves: tuple[op.Leaf, ...]) -> Mode:
    for kind, mode in _MODES.items():
        if any(type(leaf) is kind for leaf in leaves):
            return mode
    return "value"


_MODES: dict[type, Mode] = {
    op.MetricCondition: "metric",
    op.Segment: "segment",
    op.Pattern: "pattern",
    op.Source: "source",
}


def _down(way: tuple[Any, ...], found: Slot) -> Slot | None:
    """Follow the nodes from an item of a statement to the cursor's word."""
    for node, following in pairwise(way):
        if isinstance(node, tree.Ref):
            if following is node.root:
                return found
            before = node.postfixes[: _place(node.postfixes, following)]
            chain = (node.root.text, *(written(p.name) for p in before if isinstance(p, tree.Field)))
            if isinstance(following, tree.Field):
                return replace(found, what="member", chain=chain)
            found = _called(found, chain, following) if isinstance(following, tree.CallSuffix) else Slot("value")
        elif isinstance(node, tree.Comparison):
            if following is node.right:
                found = replace(found, left=node.left, operator=node.operator)
        elif isinstance(node, tree.Argument):
            found = _argument(found, node, following)
            if found.what == "argument":
                return found
        elif isinstance(node, tree.ListValue):
            found = replace(found, steps=(*found.steps, 0))
        elif isinstance(node, tree.Pair):
            if following is node.key:
                return replace(found, what="key", given=())
            found = replace(found, steps=(*found.steps, written(node.key)))
        elif isinstance(node, tree.ObjectValue):
            given = tuple(written(p.key) for p in node.pairs if written(p.key) != WORD)
            if any(following is p and _is_word(p.key) for p in node.pairs):
                return replace(found, what="key", given=given)
    return found


def _is_word(name: tree.Name | tree.String) -> bool:
    return isinstance(name, tree.Name) and name.text == WORD


def _place(postfixes: tuple[tree.Postfix, ...], wanted: Any) -> int:
    return next(i for i, postfix in enumerate(postfixes) if postfix is wanted)


def _called(found: Slot, chain: tuple[str, ...], suffix: tree.CallSuffix) -> Slot:
    """Inside the brackets of a call."""
    given = tuple(written(a.name) for a in suffix.arguments if a.name is not None)
    if len(chain) > 1:
        callee = Callee("tool", chain[1], chain[0])
    elif found.mode == "pattern":
        callee = Callee("combinator" if chain[0] in COMBINATORS else "tool", chain[0])
    elif found.mode == "metric":
        return Slot("value", "metric", callee=Callee("function", chain[0]))
    else:
        callee = Callee("function" if chain[0] in FUNCTIONS else "tool", chain[0])
    return Slot("value", found.mode, (), callee=callee, given=given)


def _argument(found: Slot, node: tree.Argument, following: Any) -> Slot:
    if node.name is not None and following is node.name:
        return replace(found, what="argument")
    if node.name is not None:
        return replace(found, mode="value", argument=written(node.name), operator=node.operator, steps=())
    alone = isinstance(following, tree.Ref) and not following.postfixes and following.root.text == WORD
    callee = found.callee
    if alone and callee is not None and callee.kind != "combinator" and found.mode != "metric":
        return replace(found, what="argument")
    return found
