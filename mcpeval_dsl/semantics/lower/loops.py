"""Semantics, lowering: tables, and `for` over rows known now or harvested later."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.expressions import Condition, Entry, Expression, ListOf, Literal, ObjectOf
from mcpeval_dsl.semantics.expressions import Ref as Bound
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.rows import rows_of_json
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, names, only
from mcpeval_dsl.semantics.model import Loop
from mcpeval_dsl.semantics.symbols import Shape, Symbol, word
from mcpeval_dsl.syntax.tree import Directive, Name, Ref, String


@dataclass(slots=True)
class Table:
    """Rows of a `table` as objects, its columns in order."""

    columns: tuple[str, ...] = ()
    rows: list[Expression] = field(default_factory=list)


def lower_table(ctx: Context, statement: Directive) -> Table:
    """`table NAME [file "x.csv"] { columns …; row … }`."""
    words = Words.of(statement)
    words.name()
    path = words.string() if words.take("file") else None
    words.end()
    table = Table()
    lines = statement.block.statements if statement.block else ()
    columns: list[Name] = []
    for line in lines:
        if isinstance(line, Directive) and line.name.text == "columns":
            with ctx.statement(line) as alive:
                columns = names(line) if alive else []
    table.columns = tuple(c.text for c in columns)
    if path is not None and path.value.endswith((".json", ".jsonl")):
        table.columns, rows = rows_of_json(ctx, table.columns, path)
        table.rows.extend(rows)
    elif path is not None:
        _csv(ctx, table, columns, path)
    for line in lines:
        with ctx.statement(line) as alive:
            if alive and isinstance(line, Directive) and line.name.text == "row":
                table.rows.append(_row(ctx, table, line))
    return table


def _row(ctx: Context, table: Table, line: Directive) -> Expression:
    cells = []
    for group in line.groups:
        words = Words.group(group)
        cells.append(lower_value(ctx, ctx.values, words.value()))
        words.end()
    return ObjectOf(tuple(Entry(c, v) for c, v in zip(table.columns, cells, strict=False)))


def _csv(ctx: Context, table: Table, columns: list[Name], path: String) -> None:
    """Rows of a CSV file; its first line names its columns."""
    import csv

    file = ctx.read_text(path.span.file, path.value, path.span)
    if file is None:
        return
    rows = list(csv.reader(file.text.splitlines(keepends=True)))
    header = [cell.strip() for cell in rows[0]] if rows else []
    if not table.columns:
        table.columns = tuple(header)
    for column in columns:
        if column.text not in header:
            nearest = closest(column.text, header)
            hint = f"did you mean `{nearest}`?" if nearest else "its first line has: " + ", ".join(header[:8])
            title = f"`{path.value}` has no column `{column.text}`"
            body = "The first line of a CSV file names its columns."
            ctx.problems.report("MCPE273", column.span, title, body, hint, meant=(column.text, nearest))
            return
    places = [header.index(column) for column in table.columns]
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            title = f"row {number} of `{path.value}` has {len(row)} cells, not {len(header)}"
            ctx.problems.report(
                "MCPE273", path.span, title, "Every row has a cell for each column.", "correct the file"
            )
            return
        table.rows.append(
            ObjectOf(tuple(Entry(c, Literal(_cell(row[i]))) for c, i in zip(table.columns, places, strict=True)))
        )


def _cell(text: str) -> int | float | str:
    """A number where the text is one written the usual way, so that nothing is lost: `007` stays a text."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and text not in ("inf", "nan", "-inf"):
            return value
    return text


def lower_loop(
    ctx: Context, statement: Directive, tables: dict[str, Table], lists: dict[str, Expression]
) -> tuple[Loop, Symbol]:
    """`for x in OVER` with `where COND`, `key REF` and `limit N` in any order; rows of tables and lists are known now."""
    words = only(statement)
    head = words.comparison("`for x in list`")
    variable = word(head.left)
    if head.operator != "in" or variable is None or not isinstance(head.left, Ref):
        raise Unlowerable(head.span, "`for x in list`")
    over = lower_value(ctx, ctx.values, head.right)
    rows, shape, first = _rows(head.right, over, tables, lists)
    table = ctx.of("table").get(word(head.right) or "")
    if table is not None and table.statement is not None and ctx.problems.flagged(table.statement.span):
        shape = None
    symbol = Symbol("loop variable", variable, head.left.span, statement, shape, variable)
    scope = ctx.values.child(cell=True)
    scope.names[variable] = symbol
    where: Condition | None = None
    key: Expression | None = None
    limit: int | None = None
    while (option := words.take("where", "key", "limit")) is not None:
        if option == "where":
            where = lower_condition(ctx, scope, words.comparison())
        elif option == "key":
            key = lower_value(ctx, scope, words.value())
        else:
            limit = int(words.number().value)
    words.end()
    if key is None and first is not None:
        key = Bound((variable, first))
    if rows is None and limit is None:
        ctx.problems.report(
            "MCPE318",
            head.span,
            "the number of rows is not known before the run",
            "Rows of a harvest come at run time; `limit` bounds the plan and its cost.",
            "add `limit 10` before the block",
        )
    keys = None if rows is None else tuple(_key(variable, key, row, i) for i, row in enumerate(rows))
    return Loop(variable, over, rows, keys, where, key, limit, statement.span.location()), symbol


def _rows(
    value: object, over: Expression, tables: dict[str, Table], lists: dict[str, Expression]
) -> tuple[tuple[Expression, ...] | None, Shape | None, str | None]:
    name = word(value)
    if name is not None and name in tables:
        table = tables[name]
        first = table.columns[0] if table.columns else None
        return tuple(table.rows), Shape(dict.fromkeys(table.columns)), first
    known = lists.get(name, over) if name is not None else over
    if isinstance(known, ListOf):
        return known.items, _items_shape(known), None
    return None, None, None


def _items_shape(items: ListOf) -> Shape | None:
    if items.items and all(isinstance(item, ObjectOf) for item in items.items):
        return Shape({e.key: None for item in items.items if isinstance(item, ObjectOf) for e in item.entries})
    if items.items and all(isinstance(item, Literal) for item in items.items):
        return Shape({})
    return None


def _key(variable: str, key: Expression | None, row: Expression, index: int) -> str:
    """Text of the row's key where it is known, else its number from 1."""
    found: Expression | None = row if key is None else None
    if isinstance(key, Bound) and key.path[:1] == (variable,):
        found = row
        for step in key.path[1:]:
            entries = found.entries if isinstance(found, ObjectOf) else ()
            found = next((e.value for e in entries if e.key == step), None)
    if isinstance(found, Literal) and found.value is not None:
        return str(found.value)
    return str(index + 1)
