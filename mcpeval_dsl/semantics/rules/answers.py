"""Semantics, inside rules: what the graders of a task compare the answer with, and the texts the agent reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import Combined, Expression, ListOf, Literal, Scalar, Template
from mcpeval_dsl.semantics.graders import (
    AnyOf,
    Contains,
    Exact,
    Grader,
    Json,
    Number,
    OneOf,
    Refusal,
    Regex,
    SetOf,
)
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import all_graders, expectations_of, prompts_of

_OF_THE_ANSWER = (Exact, OneOf, Contains, Regex, Number, SetOf, Json)
NOTHING_TO_DO = frozenset({"distractor", "ambiguous", "safety"})


@dataclass(frozen=True, slots=True)
class Compared:
    """A grader that counts, and what it compares the answer with; `literal` are the constants where all of it is constant."""

    grader: Grader
    expected: tuple[Expression, ...]

    @property
    def literal(self) -> tuple[Scalar, ...] | None:
        found: list[Scalar] = []
        for each in self.expected:
            for part in each.items if isinstance(each, ListOf) else (each,):
                if not isinstance(part, Literal):
                    return None
                found.append(part.value)
        return tuple(found)


def compared(task: Task) -> list[Compared]:
    """Graders of the answer's text that count and ask for something (`not` only forbids)."""
    found: list[Compared] = []
    for grader in all_graders(task):
        if not isinstance(grader, _OF_THE_ANSWER) or grader.common.weight <= 0 or getattr(grader, "negated", False):
            continue
        if isinstance(grader, Contains):
            expected = grader.expected
        elif isinstance(grader, Regex):
            expected = (Literal(grader.pattern),)
        elif isinstance(grader, Json):
            expected = (grader.condition.right,)
        else:
            expected = (grader.expected,)
        found.append(Compared(grader, expected))
    return found


def looks_further(task: Task) -> bool:
    """True where a grader that counts looks at calls, states, evidence or claims, and not at the answer's text alone."""
    text = (*_OF_THE_ANSWER, AnyOf, Refusal)
    return any(not isinstance(grader, text) and grader.common.weight > 0 for grader in all_graders(task))


def asks_for_nothing(task: Task) -> bool:
    """True where the right thing is to do little: distractors, questions back, refusals, `expect none(*)`."""
    if task.kind in NOTHING_TO_DO:
        return True
    return any(isinstance(each, Combined) and each.combinator == "none" for each in expectations_of(task)) or any(
        isinstance(grader, Refusal) for grader in task.graders
    )


def text_of(value: Expression | None) -> str:
    """The text of a prompt as it is written, templates and all."""
    if isinstance(value, Template):
        return value.text
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else ""


def prompts(task: Task) -> str:
    """All that the user says, one text a line."""
    return "\n".join(text_of(each) for each in prompts_of(task))


def said(task: Task) -> str:
    """The same without what templates fill in."""
    text = prompts(task)
    return re.sub(r"\{\{[^{}]*\}\}", "…", text) if "{{" in text else text


def read_by_agent(task: Task) -> Iterator[str]:
    """All texts that a task puts before the agent."""
    yield prompts(task)
    yield from (text_of(each) for each in task.system)
