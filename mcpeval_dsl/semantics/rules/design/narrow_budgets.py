"""Rule: the reference solution fits into the budget."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcpeval_dsl.diagnostics.fixes import replacing
from mcpeval_dsl.diagnostics.model import Fix
from mcpeval_dsl.semantics.expressions import CallStep, Combined, Step
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.tasks import LoweredTask
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.rules.design.advice import about_task
from mcpeval_dsl.semantics.task_parts import expectations_of


def narrow_budgets(lowered: Lowered) -> None:
    """Warn where the steps of `reference`, or the calls that `expect` asks for, are more than the limit of calls."""
    for entry in lowered.parts.tasks:
        task = entry.task
        limits = [limit for limit in (task.budget.calls.soft, task.budget.calls.hard) if limit is not None]
        needed, what = max((_reference(task), "its reference makes"), (_expected(task), "`expect` asks for"))
        if limits and needed > min(limits):
            about_task(
                lowered,
                entry,
                "MCPE373",
                f"`{task.name}` allows {min(limits):g} call{'s' * (min(limits) != 1)}, and {what} {needed}",
                "A trial that does what it should is over the budget, and fails.",
                f"raise it: `budget calls <= {needed}` or more, so that an agent may also look around",
                fixes=_raised(entry, needed),
            )


def _raised(entry: LoweredTask, needed: int) -> tuple[Fix, ...]:
    """The limits of the task's own line that are too low, raised to what is needed."""
    span, calls = entry.limit_spans.get("calls"), entry.task.budget.calls
    own = entry.statement.span
    if span is None or not (own.file is span.file and own.start <= span.start and span.end <= own.end):
        return ()
    text = span.text
    for word, limit in (("<=", calls.soft), ("hard", calls.hard)):
        if limit is not None and limit < needed:
            text = re.sub(rf"({word}\s*)[\w.]+", rf"\g<1>{needed}", text, count=1)
    return (replacing(span, text),)


def _reference(task: Task) -> int:
    turns = task.dialogue.turns if task.dialogue is not None else ()
    return _calls(task.reference) + sum(_calls(turn.reference) for turn in turns)


def _calls(steps: Iterable[Step]) -> int:
    """Calls as they are written; how often a loop goes round is not known before the run."""
    return sum(isinstance(step, CallStep) for step in steps)


def _expected(task: Task) -> int:
    """The fewest calls that meet what `expect` counts."""
    counted = [
        each.count or 0
        for each in expectations_of(task)
        if isinstance(each, Combined) and each.combinator in ("exactly", "at_least")
    ]
    ordered = [
        len(each.patterns)
        for each in expectations_of(task)
        if isinstance(each, Combined) and each.combinator == "ordered"
    ]
    return max((*counted, *ordered), default=0)
