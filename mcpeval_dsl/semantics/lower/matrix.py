"""Semantics, lowering: the cells of the matrix."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcpeval_dsl.semantics.expressions import Condition, Entry, Expression, ListOf, Literal
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.model import Cell, Unsupported
from mcpeval_dsl.semantics.symbols import Kind, word
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Binding, Directive, ListValue, Value

NAMED: Mapping[str, tuple[Kind, ...]] = {
    "model": ("model",),
    "host": ("host",),
    "server": ("server",),
    "arm": ("arm",),
}
MOST_CELLS = 10_000
Point = dict[str, Expression]


@dataclass(slots=True)
class Matrix:
    """Axes in the order of the text, and the lines that cut or add cells."""

    axes: dict[str, list[Expression]] = field(default_factory=dict)
    excludes: list[list[Condition]] = field(default_factory=list)
    includes: list[list[Condition]] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    span: Span | None = None


def lower_matrix(ctx: Context, statement: Directive) -> Matrix:
    """`matrix { model = […]; … exclude …; include … }`."""
    matrix = Matrix(span=statement.name.span)
    lines = statement.block.statements if statement.block else ()
    for line in lines:
        with ctx.statement(line) as alive:
            if alive and isinstance(line, Binding):
                matrix.axes[line.name.text] = _axis(ctx, line)
    for name, values in matrix.axes.items():
        if name not in NAMED:
            ctx.dimensions[name] = frozenset(_text(v) for v in values)
    for line in lines:
        with ctx.statement(line) as alive:
            if alive and isinstance(line, Directive):
                _line(ctx, matrix, line)
    return matrix


def _axis(ctx: Context, line: Binding) -> list[Expression]:
    if not isinstance(line.value, ListValue):
        raise Unlowerable(line.value.span, f"a list: `{line.name.text} = [a, b]`")
    kinds = NAMED.get(line.name.text)
    found: list[Expression] = []
    listed: set[str] = set()
    for item in line.value.items:
        member = _member(ctx, kinds, item)
        if repr(member) in listed:
            title = f"`{_text(member)}` stands twice in the axis `{line.name.text}`"
            body = "Two equal cells would count the same trials twice."
            ctx.problems.report("MCPE265", item.span, title, body, "remove one of them; `trials` says how often")
            continue
        listed.add(repr(member))
        found.append(member)
    if not found:
        title = f"the axis `{line.name.text}` is empty"
        ctx.problems.report("MCPE312", line.value.span, title, "An empty axis leaves no cell.", "name at least one")
    return found


def _member(ctx: Context, kinds: tuple[Kind, ...] | None, item: Value) -> Expression:
    if kinds is None:
        return lower_value(ctx, ctx.values, item)
    name = word(item)
    if name is None:
        raise Unlowerable(item.span, f"the name of {kinds[0]}s in brackets")
    ctx.named(kinds, name, item.span)
    return Literal(name)


def _line(ctx: Context, matrix: Matrix, line: Directive) -> None:
    if line.name.text not in ("exclude", "include"):
        raise Unlowerable(line.name.span, "`axis = […]`, `exclude` or `include`")
    scope = ctx.values.child(cell=True)
    conditions = []
    for group in line.groups:
        words = Words.group(group)
        conditions.append(lower_condition(ctx, scope, words.comparison()))
        words.end()
    foreign = [c for c in conditions if _dimension(c) not in matrix.axes]
    if foreign:
        name = _dimension(foreign[0]) or "this"
        matrix.unsupported.append(Unsupported(f"`{line.name.text}` by `{name}`", line.span.location()))
        return
    (matrix.excludes if line.name.text == "exclude" else matrix.includes).append(conditions)


def _dimension(condition: Condition) -> str | None:
    left = condition.left
    return str(left.path[0]) if isinstance(left, Bound) and len(left.path) == 1 else None


def expand(ctx: Context, matrix: Matrix) -> tuple[Cell, ...]:
    """The product of the axes without what is excluded, with what is included, in the order of the axes."""
    names = list(matrix.axes)
    count = math.prod(len(values) for values in matrix.axes.values())
    if count > MOST_CELLS:
        title = f"the matrix has {count:,} cells"
        body = f"A matrix has at most {MOST_CELLS:,} cells before `exclude`: the product of the lengths of its axes."
        ctx.problems.report("MCPE232", matrix.span, title, body, "shorten an axis, or split the suite")
        return ()
    points = [dict(zip(names, values, strict=True)) for values in itertools.product(*matrix.axes.values())]
    kept = [p for p in points if not any(_meets(p, conditions) for conditions in matrix.excludes)]
    for conditions in matrix.includes:
        kept += [point for point in _included(matrix, conditions) if point not in kept]
    if not kept and all(matrix.axes.values()):
        title = "no cell of the matrix is left"
        body = "Every combination is excluded, so nothing would run."
        ctx.problems.report("MCPE312", matrix.span, title, body, "remove an `exclude`")
    varying = [name for name in names if len({_text(point[name]) for point in kept}) > 1]
    return _named_apart(_cell(point, varying) for point in kept)


def _named_apart(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Cells whose values look alike in a name (`a b`, `a-b`) get a number behind it: no two have the same id."""
    taken: dict[str, Cell] = {}
    for cell in cells:
        name, turn = cell.id, 1
        while name in taken:
            turn += 1
            name = f"{cell.id}~{turn}"
        taken[name] = replace(cell, id=name)
    return tuple(taken.values())


def _included(matrix: Matrix, conditions: Sequence[Condition]) -> list[Point]:
    """Combinations an `include` asks for; it may name a member that its axis does not list."""
    named = {_dimension(c): c.right for c in conditions if c.operator == "=="}
    axes = [[named[name]] if name in named else values for name, values in matrix.axes.items()]
    points = [dict(zip(matrix.axes, values, strict=True)) for values in itertools.product(*axes)]
    return [point for point in points if _meets(point, conditions)]


def _meets(point: Point, conditions: Sequence[Condition]) -> bool:
    return all(_holds(point, condition) for condition in conditions)


def _holds(point: Point, condition: Condition) -> bool:
    value = _text(point[_dimension(condition) or ""])
    right = condition.right
    wanted = [_text(item) for item in right.items] if isinstance(right, ListOf) else [_text(right)]
    match condition.operator:
        case "==" | "in":
            return value in wanted
        case "!=" | "not in":
            return value not in wanted
        case _:
            return False


def _text(value: Expression) -> str:
    return str(value.value) if isinstance(value, Literal) else getattr(value, "text", repr(value))


def _cell(point: Point, varying: list[str]) -> Cell:
    named = {name: _text(value) for name, value in point.items() if name in NAMED}
    parts = [named.get("model", "")]
    parts += [_slug(_text(point[name])) for name in varying if name != "model"]
    return Cell(
        id="+".join(part for part in parts if part),
        model=named.get("model", ""),
        host=named.get("host", "loop"),
        arm=named.get("arm"),
        server=named.get("server"),
        parameters=tuple(Entry(n, v) for n, v in point.items() if n not in NAMED),
    )


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-") or "x"
