"""Rule: a soft limit above the hard one can never decide."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered


def budgets(lowered: Lowered) -> None:
    """`calls <= 20 hard 10` stops the trial before the soft limit counts."""
    for entry in lowered.parts.tasks:
        for name, span in entry.limit_spans.items():
            dimension, _, per_turn = name.partition(" ")
            budget = entry.task.budget_per_turn if per_turn else entry.task.budget
            limit = getattr(budget, dimension)
            if limit.soft is not None and limit.hard is not None and limit.soft > limit.hard:
                lowered.ctx.problems.report(
                    "MCPE307",
                    span,
                    f"the soft limit of {name} lies above the hard one",
                    "A trial is stopped at the hard limit, so a higher soft limit never decides.",
                    "raise the hard limit, or lower the soft one",
                )
