"""Rule: a gate on an interval is within reach of the tasks there are.

`mcpe compile` computes it for the trials it plans (`score.foresight`). Here only what is certain without statistics: every
interval of these tasks is wider than Wilson's for as many independent trials, all passed (Wilson 1927), and a paired test of
n tasks has no p below 2^(1-n).
"""

from __future__ import annotations

import math

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import GateRule

_Z2 = 1.959964**2
_FEWEST_PAIRS = 6


def reach(lowered: Lowered) -> None:
    """Warn about `task_success.low >= …` and rules on lift that so few tasks cannot meet, however well all goes."""
    tasks = lowered.suite.tasks
    independent = len({task.cluster or task.name for task in tasks})
    if independent < 2:
        return
    for rule in lowered.suite.gate.rules:
        if rule.where:
            continue
        if rule.metric in ("lift", "compare") and independent < _FEWEST_PAIRS:
            title = f"{independent} independent tasks can show no difference: p cannot fall below {2.0 ** (1 - independent):.3g}"
            _warn(lowered, rule, title, "six or more are needed before a difference can be told from chance")
        elif rule.metric == "task_success" and rule.bound == "low" and rule.operator in (">", ">=") and rule.value < 1:
            best = independent / (independent + _Z2)
            if best < rule.value:
                _warn(
                    lowered,
                    rule,
                    f"this rule cannot pass: with {independent} independent tasks `task_success.low` is below {best * 100:.1f} %",
                    f"it takes {math.ceil(_Z2 * rule.value / (1 - rule.value))} of them or more, "
                    f"or ask for the estimate: `task_success {rule.operator} {rule.value * 100:g}%`",
                )


def _warn(lowered: Lowered, rule: GateRule, title: str, hint: str) -> None:
    body = "What a gate asks for has to be within reach of the tasks and trials that are planned."
    lowered.ctx.problems.found.append(Diagnostic("MCPE581", title, rule.at, body, hint, "warning"))
