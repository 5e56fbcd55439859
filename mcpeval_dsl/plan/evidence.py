"""Plan, for content keys: what must be captured at the end of a trial so that graders can be run again without it.

A changed query here makes the trial due again; everything else of a grader is in the grade key only.
"""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.plan.names import parts_of, uses
from mcpeval_dsl.semantics.expressions import Command, FileText, FileTree, Http, Resource, Sql, ToolCall
from mcpeval_dsl.semantics.graders import AnyOf, Grader, ResultsHasReference, SameState, State, Unchanged
from mcpeval_dsl.semantics.model import Task, Truth

_SOURCES = (ToolCall, Sql, FileText, FileTree, Command, Http, Resource)


def evidence(task: Task) -> tuple[object, ...]:
    """Sources read for this task's graders and truths, in order of the text, with when and where they are read."""
    found: list[object] = []
    for grader in (*task.graders, *(g for c in task.conditionals for g in c.graders)):
        found.extend(_of_grader(grader, task))
    found.extend(_of_dialogue(task))
    roots = uses(*found, *(t.source for t in task.truths)).names
    found.extend(_of_truth(truth, truth.name in roots) for truth in task.truths)
    return tuple(found)


def _of_dialogue(task: Task) -> list[object]:
    """Read at the end of each turn, so it matters which turn asks."""
    dialogue = task.dialogue
    if dialogue is None:
        return []
    turns = [[part for grader in turn.graders for part in _of_grader(grader, task)] for turn in dialogue.turns]
    every = [part for grader in dialogue.every for part in _of_grader(grader, task)]
    references = [turn.reference for turn in dialogue.turns] if any(turns) else []
    return [turns, every, references] if any(turns) or every else []


def _of_grader(grader: Grader, task: Task) -> list[object]:
    if isinstance(grader, AnyOf):
        return [item for inner in grader.graders for item in _of_grader(inner, task)]
    found = list(sources(grader))
    if isinstance(grader, State):
        found.append(grader.session)
    elif isinstance(grader, SameState):
        found += [task.reference, grader.session]
    elif isinstance(grader, ResultsHasReference):
        found.append(task.reference)
    elif isinstance(grader, Unchanged):
        found += [grader.kind, grader.session]  # read before the agent too
    return found


def _of_truth(truth: Truth, feeds_another: bool) -> object:
    """Bindings and requirements are read from what was captured, unless another source needs their values."""
    return truth if feeds_another else replace(truth, bindings=(), requires=(), read=None)


def sources(value: object) -> list[object]:
    """The outermost sources inside a grader, an expression or a condition, in order of the text."""
    found: list[object] = []
    stack: list[object] = [value]
    while stack:
        here = stack.pop()
        if isinstance(here, _SOURCES):
            found.append(here)
        else:
            stack.extend(reversed(parts_of(here)))
    return found
