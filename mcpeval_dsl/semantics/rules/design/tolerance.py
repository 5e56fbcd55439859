"""Rule: a number with decimals is compared within a tolerance."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.fixes import replacing
from mcpeval_dsl.diagnostics.model import Fix
from mcpeval_dsl.semantics.expressions import Expression, Literal
from mcpeval_dsl.semantics.graders import Json, Number
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.tasks import LoweredTask
from mcpeval_dsl.semantics.rules.answers import compared
from mcpeval_dsl.semantics.rules.design.advice import about_task
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import Comparison, Directive
from mcpeval_dsl.syntax.tree import Number as NumberItem


def tolerance(lowered: Lowered) -> None:
    """Warn about `grade number 3.14` and `grade json $.x == 3.14` without `within`."""
    for entry in lowered.parts.tasks:
        for each in compared(entry.task):
            grader = each.grader
            if isinstance(grader, Number):
                within, known = grader.within, grader.common.normalisation.numbers_within
            elif isinstance(grader, Json) and grader.condition.operator == "==":
                within, known = grader.condition.within, None
            else:
                continue
            number = _decimal(each.expected[0])
            if within is None and known is None and number is not None:
                about_task(
                    lowered,
                    entry,
                    "MCPE366",
                    f"only the answer {number!r} to the last digit passes",
                    "An answer that is rounded otherwise is right and fails.",
                    f"say how near is near enough: `{number!r} within 1%`",
                    grader=grader,
                    fixes=_within(entry, grader),
                )


def _within(entry: LoweredTask, grader: Number | Json) -> tuple[Fix, ...]:
    """One percent behind the number, where the line stands in the task itself."""
    block = entry.statement.block
    for statement in block.statements if block is not None else ():
        if isinstance(statement, Directive) and statement.groups and statement.span.location() == grader.common.at:
            for item in statement.groups[0].items:
                if isinstance(item, NumberItem | Comparison):
                    end = Span(item.span.file, item.span.end, item.span.end)
                    return (replacing(end, " within 1%", title="Allow 1%"),)
    return ()


def _decimal(value: Expression) -> float | None:
    """A fraction that is no percentage or amount of money, whose digits are part of the question."""
    if not isinstance(value, Literal) or value.unit not in ("", "count") or not isinstance(value.value, float):
        return None
    return None if value.value.is_integer() else value.value
