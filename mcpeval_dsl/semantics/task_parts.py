"""Semantics, beside the model: a task's graders, reference and expectations wherever in the task they stand."""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.semantics.dialogues import MOST_ANSWERS
from mcpeval_dsl.semantics.expressions import AnyPattern, Expression
from mcpeval_dsl.semantics.graders import AnyOf, Grader
from mcpeval_dsl.semantics.model import Task


def graders_of(task: Task) -> tuple[Grader, ...]:
    """The task's own, those under a `when`, and those of a dialogue's turns; what stands in an `any` is not taken out."""
    under_when = (grader for conditional in task.conditionals for grader in conditional.graders)
    of_turns = task.dialogue.graders if task.dialogue is not None else ()
    return (*task.graders, *under_when, *of_turns)


def expectations_of(task: Task) -> tuple[AnyPattern, ...]:
    """What the task expects, in the turns of a dialogue too; what stands under a `when` apart."""
    turns = task.dialogue.turns if task.dialogue is not None else ()
    return (*task.expect, *(pattern for turn in turns for pattern in turn.expect))


def prompts_of(task: Task) -> tuple[Expression, ...]:
    """The prompt, and what the user says in the turns of a dialogue."""
    turns = task.dialogue.turns if task.dialogue is not None else ()
    return (*([task.prompt] if task.prompt is not None else []), *(turn.user for turn in turns))


def user_model(task: Task) -> str | None:
    """The model that plays the user of the task's dialogue."""
    user = task.dialogue.user if task.dialogue is not None else None
    return user.model if user is not None else None


def most_said(task: Task) -> int:
    """The most messages of the user in a trial: the prompt, a dialogue's, answers to questions for leave."""
    if task.dialogue is not None:
        return task.dialogue.most_turns + (task.prompt is not None)
    return 1 + (MOST_ANSWERS if task.answers_for_user else 0)


def hard_calls(task: Task, before: int = 0) -> int | None:
    """Calls after which the agent is stopped, in the turn of the user that began after `before` calls; None: no limit."""
    total, turn = task.budget.calls.hard, task.budget_per_turn.calls.hard
    limits = [int(total)] if total is not None else []
    limits += [before + int(turn)] if turn is not None else []
    return min(limits) if limits else None


def all_graders(task: Task) -> Iterator[Grader]:
    """The same, and those inside `any`, each behind the grader it is a part of."""
    todo = list(reversed(graders_of(task)))
    while todo:
        grader = todo.pop()
        yield grader
        if isinstance(grader, AnyOf):
            todo.extend(reversed(grader.graders))
