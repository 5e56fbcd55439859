"""Plan, for content keys: what must be captured at the end of a trial so that graders can be run again without it.

A changed query here makes the trial due again; everything else of a grader is in the grade key only.
"""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.plan.names import uses
from mcpeval_dsl.semantics.expressions import (
    Access,
    Apply,
    Capture,
    Command,
    Expression,
    FileText,
    FileTree,
    Http,
    ListOf,
    ObjectOf,
    Resource,
    Select,
    Sql,
    ToolCall,
)
from mcpeval_dsl.semantics.graders import AnyOf, Grader, ResultsHasReference, SameState, State, Unchanged
from mcpeval_dsl.semantics.model import Task, Truth

_SOURCES = (ToolCall, Sql, FileText, FileTree, Command, Http, Resource)


def evidence(task: Task) -> tuple[object, ...]:
    """Sources read for this task's graders and truths, in order of the text."""
    graders = (*task.graders, *(g for c in task.conditionals for g in c.graders))
    found: list[object] = []
    for grader in graders:
        found.extend(_of_grader(grader, task))
    roots = uses(*found, *(t.source for t in task.truths)).names
    found.extend(_of_truth(truth, truth.name in roots) for truth in task.truths)
    return tuple(found)


def _of_grader(grader: Grader, task: Task) -> list[object]:
    if isinstance(grader, AnyOf):
        return [item for inner in grader.graders for item in _of_grader(inner, task)]
    if isinstance(grader, State):
        return [grader.session, *sources(grader.condition.left), *sources(grader.condition.right)]
    if isinstance(grader, SameState):
        return [*grader.views, task.reference]
    if isinstance(grader, Unchanged):
        return [grader.source]
    if isinstance(grader, ResultsHasReference):
        return [task.reference]
    return []


def _of_truth(truth: Truth, feeds_another: bool) -> object:
    """Bindings and requirements are read from what was captured, unless another source needs their values."""
    return truth if feeds_another else replace(truth, bindings=(), requires=(), read=None)


def sources(expression: Expression) -> list[object]:
    """The outermost sources inside an expression."""
    if isinstance(expression, _SOURCES):
        return [expression]
    if isinstance(expression, Select | Capture):
        return sources(expression.of) if expression.of is not None else []
    if isinstance(expression, Access):
        return [*sources(expression.of), *sources(expression.key)]
    if isinstance(expression, Apply):
        return [found for item in expression.arguments for found in sources(item)]
    if isinstance(expression, ListOf):
        return [found for item in expression.items for found in sources(item)]
    if isinstance(expression, ObjectOf):
        return [found for entry in expression.entries for found in sources(entry.value)]
    return []
