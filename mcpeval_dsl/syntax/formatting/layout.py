"""Formatting, step 3: statements -> lines. What the author broke stays broken, and what is too wide is broken.

Widths are measured before columns are aligned, so that aligning never changes what is broken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcpeval_dsl.syntax.formatting.columns import align
from mcpeval_dsl.syntax.formatting.lines import STEP, WIDTH, Laid, Line, Writer, comment_lines
from mcpeval_dsl.syntax.formatting.shape import OPERATORS, Bracket, Leaf, Node, Shape, Statement, is_operator_word
from mcpeval_dsl.syntax.formatting.texts import text_lines
from mcpeval_dsl.syntax.formatting.tokens import Gap
from mcpeval_dsl.syntax.formatting.widths import outline, to_open

_LONGEST_WORD = 11  # a longer one would push its neighbours' operands far away
_ROWS = frozenset({"columns", "row"})  # lines of a table: a row is one line, and its cells are aligned with the others'


@dataclass(slots=True)
class Segment:
    """Part of a head between two places where a line may break; `forced` where it does."""

    nodes: list[Node]
    forced: bool = False


def lay_out(shape: Shape) -> list[Line]:
    """The lines of a file."""
    return _body(shape.statements, shape.end, 0)


def _body(statements: Sequence[Statement], end: Gap, indent: int) -> list[Line]:
    """The lines of a block, columns aligned. The trailing comment of its opening line is the caller's."""
    found: list[Laid | Line] = []
    behind = False  # whether the statement before has a block, or a `;`
    gaps = [*(statement.gap for statement in statements), end][1:]
    for number, (statement, after) in enumerate(zip(statements, gaps, strict=True)):
        gap, first = statement.gap, number == 0
        between = comment_lines(gap, indent, first)
        if gap.blank and (gap.own or not first):
            between.append(Line(0, ""))
        laid = _statement(statement, indent, apart=bool(between) or first)
        if after.trailing and _speaks_to_mcpe(after.trailing, statement, laid):
            between.append(Line(indent, after.trailing))
            laid.apart = True
        else:
            laid.lines[-1].comment = after.trailing
        if not first and not behind and _begins_as_operator(statement):
            _last_line(found).text += ";"
        ends = _ends_as_operator(statement)
        laid.lines[-1].text += ";" if ends else ""
        behind = ends or statement.block is not None
        found += [*between, laid]
    found += comment_lines(end, indent, not statements)
    return align(found)


def _last_line(found: Sequence[Laid | Line]) -> Line:
    """The last line of the last statement."""
    return next(item.lines[-1] for item in reversed(found) if isinstance(item, Laid))


def _speaks_to_mcpe(comment: str, statement: Statement, laid: Laid) -> bool:
    """Whether a comment that ignores findings of its line has to go above a block that had one line and now has more."""
    broken = statement.flat is not None and statement.block is not None and len(laid.lines) > 1
    return broken and re.match(r"#[ \t]*mcpe[ \t]*:", comment) is not None


def _begins_as_operator(statement: Statement) -> bool:
    """Whether a `;` has to stand before the statement, or its first word would be read as an operator."""
    words = [node.text for node in statement.nodes[:2] if isinstance(node, Leaf)]
    return words[0] in OPERATORS or (words[0] == "not" and words[-1] in OPERATORS)


def _ends_as_operator(statement: Statement) -> bool:
    """Whether a `;` has to stand behind the statement, or its last word would be read as an operator without a value."""
    last = statement.nodes[-1]
    return statement.block is None and len(statement.nodes) > 2 and isinstance(last, Leaf) and last.text in OPERATORS


def _statement(statement: Statement, indent: int, apart: bool) -> Laid:
    block, flat = statement.block, statement.flat
    stops = _stops(statement, indent)
    if flat is not None and indent + len(flat) <= WIDTH:
        return Laid([Line(indent, flat)], stops, apart, True)
    if block is not None and block.flat is not None and block.statements:
        writer = _head(statement, indent, len(block.flat) + 1)
        if not writer.broke and writer.column + 1 + len(block.flat) <= WIDTH:
            writer.put(" " + block.flat)
            return Laid(writer.lines, stops, apart, writer.whole)
    opening = "" if block is None else " {}" if block.flat == "{}" else " {"
    writer = _head(statement, indent, len(opening))
    writer.put(opening)
    if opening == " {" and block is not None:
        begin = block.statements[0].gap if block.statements else block.end
        writer.lines[-1].comment = begin.trailing
        writer.lines += _body(block.statements, block.end, indent + STEP)
        writer.lines.append(Line(indent, "}"))
        writer.whole = False
    return Laid(writer.lines, _before_columns(stops) if opening else stops, apart, writer.whole)


def _before_columns(stops: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Without the column of `{`: the block is broken, or has nothing in it."""
    return [stop for stop in stops if stop[1] != "{"]


def _stops(statement: Statement, indent: int) -> list[tuple[int, str]]:
    """Where columns may be aligned: behind the first word, before `=`, behind the commas of a table's row, and before
    the block of a declaration."""
    nodes = statement.nodes
    if len(nodes) < 2 or not nodes[1].spaced or nodes[1].gap.commented:
        return []
    name, second = nodes[0], nodes[1]
    assert isinstance(name, Leaf), "a statement begins with a name"
    if isinstance(second, Leaf) and second.kind == "EQUAL":
        return [(len(name.text), "=")]
    if len(name.text) > _LONGEST_WORD or name.text == "not":
        return []
    stops = [(len(name.text), "operand")]
    end = len(name.text) + 1 + second.size
    third = nodes[2] if len(nodes) > 2 else None
    if isinstance(third, Leaf) and third.kind == "EQUAL":
        stops.append((end, f"= {name.text}"))
    elif third is None and statement.block is not None and indent == 0 and isinstance(second, Leaf):
        stops.append((end, "{"))
    elif name.text in _ROWS and statement.flat is not None and statement.block is None:
        stops += _cells(nodes)
    return stops


def _cells(nodes: Sequence[Node]) -> list[tuple[int, str]]:
    stops, offset = [], 0
    for number, node in enumerate(nodes):
        offset += (node.spaced and number > 0) + node.size
        if isinstance(node, Leaf) and node.kind == "COMMA":
            stops.append((offset, "cell"))
    return stops


def _segments(nodes: Sequence[Node]) -> list[Segment]:
    """The head, cut behind commas and before operators."""
    segments = [Segment([])]
    for number, node in enumerate(nodes):
        if number and (nodes[number - 1].kind == "COMMA" or (node.kind == "CMP" and _may_break(nodes, number))):
            segments.append(Segment([], node.gap.newline))
        segments[-1].nodes.append(node)
    return segments


def _may_break(nodes: Sequence[Node], number: int) -> bool:
    """Whether a line may begin with the operator there. Behind some words the scanner would then read another one."""
    before, gap = nodes[number - 1], nodes[number].gap
    if gap.commented or is_operator_word(before):
        return gap.newline
    return number > 1 and (gap.newline or not (isinstance(before, Bracket) and before.closer == "}"))


def _head(statement: Statement, indent: int, tail: int) -> Writer:
    """The head on as many lines as it needs; `tail` characters follow it on its last line."""
    nodes = statement.nodes
    writer = Writer([Line(indent, "")], indent)
    segments = _segments(nodes)
    word = nodes[0].text if isinstance(nodes[0], Leaf) else ""
    hangs = len(nodes) > 1 and nodes[1].spaced and not nodes[1].gap.commented
    hanging = indent + (len(word) + 1 if hangs else STEP)
    for number, segment in enumerate(segments):
        behind = tail if number == len(segments) - 1 else 0
        if number:
            _next_segment(writer, segment, behind, (hanging, hangs), keep=word in _ROWS)
        opened = to_open(segment.nodes, writer.column, writer.base, behind)
        writer.broke = writer.broke or bool(opened)
        _nodes(writer, segment.nodes, opened)
    return writer


def _next_segment(writer: Writer, segment: Segment, behind: int, hanging: tuple[int, bool], keep: bool) -> None:
    """A blank, or a new line where the author has one or the segment has no place on this one."""
    found = outline(segment.nodes, writer.column + 1, writer.base)
    width = found.first if found.first != found.last else found.last + behind
    if not segment.forced and (keep or width <= WIDTH):
        writer.put(" ")
        return
    writer.broke = writer.broke or not segment.forced
    writer.base, writer.hangs = hanging
    writer.comments(segment.nodes[0].gap, writer.base)
    writer.line(writer.base)


def _nodes(writer: Writer, nodes: Sequence[Node], opened: frozenset[int]) -> None:
    for number, node in enumerate(nodes):
        if number and node.gap.commented:
            writer.comments(node.gap, writer.base + STEP)
            writer.line(writer.base + STEP)
        elif number and node.spaced:
            writer.put(" ")
        if node.flat is not None and id(node) not in opened:
            writer.put(node.flat)
        elif isinstance(node, Leaf):
            _text(writer, node.text)
        elif node.open or id(node) in opened:
            _open(writer, node)
        else:
            _hug(writer, node)


def _text(writer: Writer, token: str) -> None:
    found = text_lines(token)
    writer.put(found.first)
    writer.whole = False
    for line in found.rest:
        indent = writer.base + STEP if line and not found.rigid else 0
        writer.lines.append(Line(indent, line, "", writer.hangs and indent > 0))


def _hug(writer: Writer, bracket: Bracket) -> None:
    """A bracket on the lines of what is in it."""
    writer.put(bracket.opener)
    for number, element in enumerate(bracket.elements):
        writer.put(", " if number else "")
        _nodes(writer, element.nodes, frozenset())
    writer.put(bracket.closer)


def _open(writer: Writer, bracket: Bracket) -> None:
    """A bracket with lines of its own for each element. The last one has a comma too, so that one more is one line."""
    base, inner = writer.base, writer.base + STEP
    writer.put(bracket.opener)
    writer.whole, writer.base = False, inner
    for number, element in enumerate(bracket.elements):
        writer.comments(element.gap, inner, first=number == 0)
        if element.gap.blank and (number or element.gap.own):
            writer.lines.append(Line(0, ""))
        writer.line(inner)
        _nodes(writer, element.nodes, to_open(element.nodes, inner, inner, 1))
        writer.put("" if bracket.kind == "_IDX" else ",")
    writer.comments(bracket.end, inner, first=not bracket.elements)
    writer.base = base
    writer.line(base)
    writer.put(bracket.closer)
