"""Rule: what changes with time is read when the trial is run, not written down."""

from __future__ import annotations

import re
from functools import cache

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.rules.answers import asks_for_nothing, compared, said
from mcpeval_dsl.semantics.rules.design.advice import about_task

_UNIT = r"(?:hour|day|week|month|quarter|year)s?"


@cache
def _clock() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:today|yesterday|tomorrow|tonight|right now|at the moment|this (?:morning|week|month|quarter|year)"
        rf"|(?:last|past|next|previous) (?:\d+ )?{_UNIT}|how (?:old|long ago))\b",
        re.IGNORECASE,
    )


@cache
def _state() -> re.Pattern[str]:
    return re.compile(r"\b(?:currently|current|latest|newest|most recent|so far|now)\b", re.IGNORECASE)


def moving_answers(lowered: Lowered) -> None:
    """Warn where the prompt speaks of time and the answer is a constant.

    In a fresh environment the newest entry stays the newest; only the clock goes on.
    """
    fixed = {each.name for each in lowered.suite.environments if each.steps}
    for entry in lowered.parts.tasks:
        task = entry.task
        graders = compared(task)
        if not graders or asks_for_nothing(task) or any(each.literal is None for each in graders):
            continue
        text = said(task)
        spoken = _clock().search(text) or (None if _made(task, fixed) else _state().search(text))
        if spoken is not None:
            about_task(
                lowered,
                entry,
                "MCPE368",
                f"the prompt says “{spoken[0]}”, and the answer is a constant",
                "What is right on the day it is written is wrong later on.",
                "harvest the answer from the server, or name a date in the prompt",
                grader=graders[0].grader,
            )


def _made(task: Task, fixed: set[str]) -> bool:
    return bool(task.setup) or task.environment in fixed
