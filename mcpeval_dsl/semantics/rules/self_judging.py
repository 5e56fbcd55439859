"""Rule: a model that is tested should not judge itself."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered


def self_judging(lowered: Lowered) -> None:
    """Warn once where the only model judges because nobody else was named."""
    for entry in lowered.parts.tasks:
        for span in entry.assumed_judge[:1]:
            lowered.ctx.problems.report(
                "MCPE324",
                span,
                f"`{lowered.parts.assumed_judge}` judges its own answers",
                "No judge is named, so the only model judges; models favour what they wrote themselves.",
                "define a second model and write `judge NAME` in the suite",
                severity="warning",
            )
            return
