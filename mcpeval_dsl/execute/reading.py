"""Reading sources for one trial or harvest: local ones directly, tool calls and resources through the gateway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from mcpeval_dsl.semantics.expressions import Expression, Resource, Source, ToolCall
from mcpeval_dsl.values.model import EvaluationError, Reading, Scope, SourceReader
from mcpeval_dsl.values.sources import source_key, sources_in

Remote = Callable[[ToolCall | Resource, Scope], Awaitable[Reading]]


class TrialReader:
    """A SourceReader that sends what needs a server to `remote` and everything else to `local`."""

    def __init__(self, local: SourceReader, remote: Remote) -> None:
        self._local = local
        self._remote = remote

    async def read(self, source: Source, scope: Scope) -> Reading:
        try:
            if isinstance(source, ToolCall | Resource):
                return await self._remote(source, scope)
            return await self._local.read(source, scope)
        except EvaluationError as error:
            return Reading(error=error.reason, error_class="source")


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
