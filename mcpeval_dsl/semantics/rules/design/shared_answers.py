"""Rule: where several questions have one answer, an agent that always says it passes them all."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Label
from mcpeval_dsl.semantics.expressions import Expression, ListOf, Literal, Ref, Template
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.tasks import LoweredTask
from mcpeval_dsl.semantics.rules.answers import asks_for_nothing, compared, looks_further, prompts
from mcpeval_dsl.semantics.rules.design.advice import about_task

SEVERAL = 3


def shared_answers(lowered: Lowered) -> None:
    """Warn at the first of three tasks or more that differ in their prompts and not in their answers."""
    by_answer: dict[tuple[object, ...], list[LoweredTask]] = {}
    for entry in lowered.parts.tasks:
        if asks_for_nothing(entry.task) or looks_further(entry.task) or entry.task.loop is not None:
            continue
        answer = tuple(_plain(value) for each in compared(entry.task) for value in each.expected)
        if answer and None not in answer:
            by_answer.setdefault(answer, []).append(entry)
    for entries in by_answer.values():
        different = {prompts(entry.task): entry for entry in entries}
        first, *others = different.values()
        if len(different) >= SEVERAL:
            about_task(
                lowered,
                first,
                "MCPE365",
                f"{len(different)} different prompts have one answer",
                "An agent that always says it passes them all, whatever it has understood.",
                "ask some of them so that the answer is another one, or grade how it was found: `grade evidence`",
                labels=tuple(Label(entry.span.location(), "and this one") for entry in others[:5]),
            )


def _plain(value: Expression) -> object:
    """Without the place; None for what only a run can compare."""
    if isinstance(value, Literal):
        text = value.value
        return ("is", text.strip().lower() if isinstance(text, str) else text)
    if isinstance(value, Ref):
        return ("ref", value.path)
    if isinstance(value, Template):
        return ("template", value.text)
    if isinstance(value, ListOf):
        items = tuple(_plain(item) for item in value.items)
        return None if None in items else ("list", items)
    return None
