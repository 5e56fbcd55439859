"""Rule: `pass^k` needs k trials."""

from __future__ import annotations

import re

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered

_METRIC = re.compile(r"pass[@^](\d+)")


def repetitions(lowered: Lowered) -> None:
    """A gate on `pass^k` or `pass@k` where no task has k trials can never be decided."""
    most = max((task.trials for task in lowered.suite.tasks), default=None)
    if most is None or lowered.ctx.problems.earlier:
        return
    for rule in lowered.suite.gate.rules:
        found = _METRIC.fullmatch(rule.metric)
        if found is None:
            continue
        needed = int(found[1])
        if needed < 1 or needed > most:
            title = f"`{rule.metric}` needs {needed} trials, and no task has more than {most}"
            if needed < 1:
                title = f"`{rule.metric}` asks for no trial at all"
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE316",
                    title,
                    rule.at,
                    "k trials are drawn from those of a task.",
                    f"set `trials {needed}` in the suite, or a smaller k",
                )
            )
