"""Rule: a JSONPath into a tool's result leads where its output schema has something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Fix
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.expressions import (
    Access,
    Apply,
    CallPattern,
    CallStep,
    Condition,
    Entry,
    Expression,
    ForStep,
    ListOf,
    ObjectOf,
    Requirement,
    ResetStep,
    Select,
    Step,
    ToolCall,
)
from mcpeval_dsl.semantics.graders import State
from mcpeval_dsl.semantics.injections import Inject
from mcpeval_dsl.semantics.json_schemas import allows, items, members
from mcpeval_dsl.semantics.lower import path_steps
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.known import locked
from mcpeval_dsl.semantics.model import Harvest, Task, Truth
from mcpeval_dsl.source import Location

Reading = tuple[ToolCall, Select]
Schemas = list[tuple[Any, Any]]
"""Pairs of a whole schema and a part of it."""


def result_paths(lowered: Lowered) -> None:
    """Harvests, truths, steps and state graders over tools whose output schema is locked."""
    if not lowered.ctx.known:
        return
    suite = lowered.suite
    for harvest in suite.harvests:
        _all(lowered, _of_reading(harvest))
    for environment in suite.environments:
        _all(lowered, _of_steps((*environment.steps, *environment.teardown)))
    for task in suite.tasks:
        _all(lowered, _of_task(task))
        for inject in task.injections:
            _of_injection(lowered, inject)


def _all(lowered: Lowered, found: Iterable[Reading]) -> None:
    for call, select in found:
        _check(lowered, call.server, call.tool, select)


def _of_injection(lowered: Lowered, inject: Inject) -> None:
    """Where a text is planted in a result."""
    if not isinstance(inject.into, Select):
        return
    for pattern in inject.patterns:
        if isinstance(pattern, CallPattern) and pattern.tool_from is None and "*" not in pattern.tool:
            _check(lowered, pattern.server, pattern.tool, inject.into)


def _of_task(task: Task) -> Iterator[Reading]:
    readings: tuple[Harvest | Truth, ...] = (*task.harvests, *task.truths)
    for reading in readings:
        yield from _of_reading(reading)
    yield from _of_steps((*task.setup, *task.teardown, *task.reference))
    for _, steps in task.undo:
        yield from _of_steps(steps)
    for grader in task.graders:
        if isinstance(grader, State):
            yield from _of_condition(grader.condition, None)


def _of_reading(reading: Harvest | Truth) -> Iterator[Reading]:
    if isinstance(reading.source, ToolCall) and reading.read in (None, "json"):
        yield from _of_result(reading.source, reading.bindings, reading.requires)


def _of_steps(steps: Sequence[Step]) -> Iterator[Reading]:
    for step in steps:
        if isinstance(step, CallStep):
            yield from _of_result(step.call, step.bindings, step.requires)
        elif isinstance(step, ResetStep) and isinstance(step.source, ToolCall):
            yield from _of_result(step.source, (), step.requires)
        elif isinstance(step, ForStep):
            yield from _of_steps(step.steps)


def _of_result(call: ToolCall, bindings: Sequence[Entry], requires: Sequence[Requirement]) -> Iterator[Reading]:
    for entry in bindings:
        yield from _selects(entry.value, call)
    for requirement in requires:
        yield from _of_condition(requirement.condition, call)


def _of_condition(condition: Condition, call: ToolCall | None) -> Iterator[Reading]:
    yield from _selects(condition.left, call)
    yield from _selects(condition.right, call)


def _selects(value: Expression, call: ToolCall | None) -> Iterator[Reading]:
    """Paths into the result of `call`, or of a call that stands before them."""
    if isinstance(value, Select):
        read = value.of if isinstance(value.of, ToolCall) else call if value.of is None else None
        if read is not None:
            yield read, value
    elif isinstance(value, Apply):
        for argument in value.arguments:
            yield from _selects(argument, call)
    elif isinstance(value, ListOf):
        for item in value.items:
            yield from _selects(item, call)
    elif isinstance(value, ObjectOf):
        for entry in value.entries:
            yield from _selects(entry.value, call)
    elif isinstance(value, Access):
        yield from _selects(value.of, call)


def _check(lowered: Lowered, server: str | None, name: str, select: Select) -> None:
    schemas: Schemas = []
    for entry in locked(lowered.ctx, server) or []:
        tool = entry.tools.get(name)
        if tool is None and server is None:
            continue  # another server has it
        if tool is None or tool.output_schema is None:
            return
        schemas.append((tool.output_schema, tool.output_schema))
    if any(_may_be_opened(root, schema) for root, schema in schemas):
        return
    problem = _walk(name, select, schemas)
    if problem is not None:
        lowered.ctx.problems.found.append(problem)


def _may_be_opened(root: Any, schema: Any) -> bool:
    """Whether `$` may be the one text that a result wraps; which of the two is read, only the run can say."""
    inner = members(root, schema) or {}
    if len(inner) > 1:
        return False
    kinds = [allows(root, part) for parts in inner.values() for part in parts]
    return not kinds or any(kind is None or "string" in kind for kind in kinds)


def _walk(tool: str, select: Select, schemas: Schemas) -> Diagnostic | None:
    before = 1
    for step in path_steps.steps(select.path):
        if not schemas:
            return None
        if step.kind == "member":
            assert step.name is not None
            inner = _members(schemas)
            if inner is None:
                return None
            if step.name not in inner:
                what = _what(tool, select.path[:before])
                return _missing(select, what, step.name, (step.start, step.end), inner)
            schemas = inner[step.name]
        else:
            schemas = _items(schemas) if step.kind != "members" or _are_lists(schemas) else []
            tested = _members(schemas) if step.tested and schemas else None
            for name, offset in step.tested:
                if tested is not None and name not in tested:
                    what = f"the items of `{select.path[:before]}` in results of `{tool}`"
                    return _missing(select, what, name, (offset, offset + len(name)), tested)
        before = step.behind
    return None


def _what(tool: str, path: str) -> str:
    return f"results of `{tool}`" if path == "$" else f"`{path}` in results of `{tool}`"


def _members(schemas: Schemas) -> dict[str, Schemas] | None:
    """Members by name of all that may stand here; none of a list, a number or a text; None where they are open."""
    found: dict[str, Schemas] = {}
    for root, schema in schemas:
        inner: Mapping[str, list[Any]] | None = members(root, schema)
        if inner is None:
            types = allows(root, schema)
            if types is None or "object" in types:
                return None
            inner = {}
        for name, parts in inner.items():
            found.setdefault(name, []).extend((root, part) for part in parts)
    return found


def _are_lists(schemas: Schemas) -> bool:
    return all("object" not in (allows(root, schema) or {"object"}) for root, schema in schemas)


def _items(schemas: Schemas) -> Schemas:
    """The items of all lists that may stand here; empty where nothing is known of them."""
    found: Schemas = []
    for root, schema in schemas:
        inner = items(root, schema)
        if inner is None:
            return []
        found += [(root, part) for part in inner]
    return found


def _missing(select: Select, what: str, name: str, place: tuple[int, int], known: Mapping[str, Schemas]) -> Diagnostic:
    near = closest(name, known)
    listed = ", ".join(f"`{each}`" for each in sorted(known)[:8])
    if not known:
        hint = "a list has items: `[0]` is the first one, `[*]` is all of them"
    else:
        meant = near if _quoted(select.path, place[0]) else f"{select.path[: place[0]]}{near}"
        hint = f"did you mean `{meant}`?" if near else f"they have: {listed}"
    fixes: tuple[Fix, ...] = ()
    at = select.at
    if (
        near
        and near.isidentifier()
        and at is not None
        and at.line == at.end_line
        and not _quoted(select.path, place[0])
    ):
        spot = Location(at.path, at.line, at.column + place[0], at.line, at.column + place[1])
        fixes = (Fix(f"write {near}", (Edit(spot, near),)),)
    verb = "has" if what.startswith("`") else "have"
    title = f"{what} {verb} no member `{name}`"
    return Diagnostic(
        "MCPE263", title, at, "The path does not fit the tool's output schema in the lock.", hint, fixes=fixes
    )


def _quoted(path: str, start: int) -> bool:
    return path[start : start + 1] in ("'", '"')
