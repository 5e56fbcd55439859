"""Rule: a JSONPath into a tool's result begins with a member its output schema has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.expressions import Access, Apply, Expression, ListOf, ObjectOf, Select, ToolCall
from mcpeval_dsl.semantics.graders import State
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.known import locked, properties
from mcpeval_dsl.semantics.model import Harvest, Truth

_FIRST = re.compile(r"""\$(?:\.([A-Za-z_]\w*)|\[['"]([^'"]+)['"]\])""")


def result_paths(lowered: Lowered) -> None:
    """Harvest bindings, truths and state graders over tools whose output schema is locked."""
    if not lowered.ctx.known:
        return
    suite = lowered.suite
    readings: list[Harvest | Truth] = [*suite.harvests]
    for task in suite.tasks:
        readings += [*task.harvests, *task.truths]
    for reading in readings:
        if isinstance(reading.source, ToolCall) and reading.read in (None, "json"):
            for entry in reading.bindings:
                for select in _selects(entry.value):
                    _check(lowered, reading.source, select)
    for task in suite.tasks:
        for grader in task.graders:
            if isinstance(grader, State):
                left = grader.condition.left
                if isinstance(left, Select) and isinstance(left.of, ToolCall):
                    _check(lowered, left.of, left)


def _selects(value: Expression) -> Iterator[Select]:
    if isinstance(value, Select):
        yield value
    elif isinstance(value, Apply):
        for argument in value.arguments:
            yield from _selects(argument)
    elif isinstance(value, ListOf):
        for item in value.items:
            yield from _selects(item)
    elif isinstance(value, ObjectOf):
        for entry in value.entries:
            yield from _selects(entry.value)
    elif isinstance(value, Access):
        yield from _selects(value.of)


def _check(lowered: Lowered, call: ToolCall, select: Select) -> None:
    found = _FIRST.match(select.path)
    if found is None:
        return
    key = found[1] or found[2]
    members: set[str] = set()
    for server in locked(lowered.ctx, call.server) or []:
        tool = server.tools.get(call.tool)
        fields = _members(None if tool is None else tool.output_schema)
        if fields is None:
            return
        members |= fields
    if members and key not in members:
        nearest = closest(key, members)
        listed = ", ".join(f"`{m}`" for m in sorted(members)[:8])
        lowered.ctx.problems.found.append(
            Diagnostic(
                "MCPE263",
                f"results of `{call.tool}` have no member `{key}`",
                select.at,
                "The path does not fit the tool's output schema in the lock.",
                f"did you mean `$.{nearest}`?" if nearest else f"they have: {listed}",
            )
        )


def _members(schema: Any) -> set[str] | None:
    """Top-level members; None where they are open. A wrapper with one member is opened, so it counts as open."""
    fields = properties(schema)
    return None if fields is None or len(fields) < 2 else set(fields)
