"""Semantics, lowering: rows of a `table` that stand in a JSON or JSON Lines file."""

from __future__ import annotations

import json

from mcpeval_dsl.semantics.expressions import Entry, Expression, ObjectOf
from mcpeval_dsl.semantics.lower.answers import as_expression
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.syntax.tree import String


def rows_of_json(ctx: Context, columns: tuple[str, ...], path: String) -> tuple[tuple[str, ...], list[Expression]]:
    """Columns and rows of a list of objects; without columns of the table those of the first row count."""
    file = ctx.read_text(path.span.file, path.value, path.span)
    if file is None:
        return columns, []
    try:
        lines = path.value.endswith(".jsonl")
        loaded = (
            [json.loads(line) for line in file.text.splitlines() if line.strip()] if lines else json.loads(file.text)
        )
    except (ValueError, RecursionError) as fault:
        _broken(ctx, path, f"holds no valid JSON: {fault}")
        return columns, []
    if not isinstance(loaded, list) or not all(isinstance(row, dict) for row in loaded):
        _broken(ctx, path, "holds no list of objects")
        return columns, []
    columns = columns or tuple(loaded[0] if loaded else ())
    found: list[Expression] = []
    for number, row in enumerate(loaded, start=1):
        lacking = next((column for column in columns if column not in row), None)
        if lacking is not None:
            _broken(ctx, path, f"has no `{lacking}` in row {number}")
            return columns, []
        found.append(ObjectOf(tuple(Entry(column, as_expression(row[column])) for column in columns)))
    return columns, found


def _broken(ctx: Context, path: String, what: str) -> None:
    title = f"`{path.value}` {what}"
    ctx.problems.report(
        "MCPE273", path.span, title, "Each row is an object with a member for each column.", "correct the file"
    )
