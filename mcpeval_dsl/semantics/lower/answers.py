"""Semantics, lowering: the form of the answer a task asks for."""

from __future__ import annotations

import json
from typing import Literal as Word

from mcpeval_dsl.semantics.expressions import Entry, Expression, ListOf, Literal, ObjectOf
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.model import Answer
from mcpeval_dsl.semantics.symbols import Scope
from mcpeval_dsl.syntax.tree import Directive, String


def lower_answer(ctx: Context, scope: Scope, line: Directive) -> Answer:
    """`answer text|none|json OBJECT|schema (OBJECT|file "path")`."""
    words = only(line)
    form = words.take("text", "none", "json", "schema")
    if form is None:
        raise Unlowerable(words.place, "`text`, `none`, `json {…}` or `schema {…}`")
    if form == "text" or form == "none":
        words.end()
        return Answer("text" if form == "text" else "none")
    kind: Word["json", "schema"] = "json" if form == "json" else "schema"
    if words.take("file"):
        path = words.string()
        words.end()
        return Answer(kind, _from_file(ctx, path))
    schema = lower_value(ctx, scope, words.value("an object"))
    words.end()
    return Answer(kind, schema)


def _from_file(ctx: Context, path: String) -> Expression:
    file = ctx.read_text(path.span.file, path.value, path.span)
    if file is None:
        return Literal(None)
    try:
        return as_expression(json.loads(file.text))
    except ValueError as fault:
        title = f"`{path.value}` holds no valid JSON: {fault}"
        ctx.problems.report("MCPE273", path.span, title, "An answer schema is a JSON Schema.", "correct the file")
        return Literal(None)


def as_expression(value: object) -> Expression:
    """A JSON value as an expression."""
    if isinstance(value, dict):
        return ObjectOf(tuple(Entry(str(k), as_expression(v)) for k, v in value.items()))
    if isinstance(value, list):
        return ListOf(tuple(as_expression(v) for v in value))
    if value is None or isinstance(value, bool | int | float | str):
        return Literal(value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")
