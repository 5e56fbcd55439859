"""Rule: some model APIs take a limited number of tools."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Model, Task

MOST_TOOLS = 128
_WITHOUT_LIMIT = ("anthropic", "gemini", "vertex", "google")


def crowded(lowered: Lowered) -> None:
    """A task that shows more tools than a model of the matrix is offered at once: its trials there are all untestable."""
    used = {cell.model for cell in lowered.suite.cells}
    limited = [model for model in lowered.suite.models if model.name in used and _limited(model)]
    for task in lowered.suite.tasks:
        count = _shown(lowered, task)
        if not limited or not task.distract or count <= MOST_TOOLS:
            continue
        names = ", ".join(f"`{model.name}`" for model in limited)
        lowered.ctx.problems.found.append(
            Diagnostic(
                "MCPE328",
                f"`{task.name}` shows {count} tools or more, and {names} takes {MOST_TOOLS}",
                task.distract[0].at,
                "The provider would refuse the list as a whole, so no trial of this task could be tested with that model.",
                f"lower the counts, so that at most {MOST_TOOLS} tools are shown",
                severity="warning",
            )
        )


def _limited(model: Model) -> bool:
    """What speaks the chat API of OpenAI, and all that imitate it."""
    return model.driver == "litellm" and not model.target.startswith(_WITHOUT_LIMIT)


def _shown(lowered: Lowered, task: Task) -> int:
    """Distractors, and the tools of the task's servers as far as a lock file names them."""
    known = lowered.ctx.known
    own = sum(len(known[name].tools) for name in task.servers if name in known)
    return own + sum(line.count for line in task.distract)
