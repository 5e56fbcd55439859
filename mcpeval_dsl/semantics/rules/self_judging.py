"""Rule: a model that is tested should not judge itself."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.graders import AnyOf, Grader, Judge
from mcpeval_dsl.semantics.lower.assemble import Lowered


def self_judging(lowered: Lowered) -> None:
    """Warn once where the only model judges because nobody else was named."""
    assumed = lowered.parts.assumed_judge
    if assumed is None:
        return
    for task in lowered.suite.tasks:
        for grader in (*task.graders, *(g for c in task.conditionals for g in c.graders)):
            if _asks(grader, assumed):
                lowered.ctx.problems.found.append(
                    Diagnostic(
                        "MCPE324",
                        f"`{assumed}` judges its own answers",
                        grader.common.at,
                        "No judge is named, so the only model judges; models favour what they wrote themselves.",
                        "define a second model and write `judge NAME` in the suite",
                        "warning",
                    )
                )
                return


def _asks(grader: Grader, model: str) -> bool:
    if isinstance(grader, AnyOf):
        return any(_asks(inner, model) for inner in grader.graders)
    return isinstance(grader, Judge) and grader.model == model
