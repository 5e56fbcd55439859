"""Reading every source inside expressions, so that they can then be evaluated without I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.values.model import Scope, SourceReader
from mcpeval_dsl.values.sources import source_key, sources_in


async def with_readings(expressions: Iterable[Any], scope: Scope, reader: SourceReader) -> Scope:
    """The scope with every source inside the expressions read, so that they can be evaluated without I/O."""
    readings = dict(scope.readings)
    for expression in expressions:
        for source in sources_in(expression):
            key = source_key(source, scope)
            if key not in readings:
                readings[key] = await reader.read(source, scope)
    return replace(scope, readings=readings)


def is_source(expression: Expression) -> bool:
    """Whether the expression itself is a source (and not a value around one)."""
    return expression.kind in ("tool", "sql", "file", "files", "command", "http", "resource")
