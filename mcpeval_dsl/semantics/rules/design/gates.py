"""Rules: a gate on a share stands on enough tasks and trials to mean something."""

from __future__ import annotations

import math
import re

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import GateRule, Task

ENOUGH = 20
_SHARE = re.compile(r"task_success|pass[@^]\d+")


def gates(lowered: Lowered) -> None:
    """Note a gate over fewer than 20 tasks, over single trials, and one that a single failure closes."""
    shares = [rule for rule in lowered.suite.gate.rules if _SHARE.fullmatch(rule.metric) and rule.bound is None]
    tasks = lowered.suite.tasks
    counts = [_rows(task) for task in tasks]
    if not shares or not tasks or None in counts:
        return
    number = sum(count or 0 for count in counts)
    if number < ENOUGH:
        _note(
            lowered,
            "MCPE375",
            shares[0],
            f"this gate is decided by {number} task{'s' if number != 1 else ''}",
            f"With fewer than {ENOUGH} tasks the share says more about the tasks than about the agent.",
            f"add tasks until there are {ENOUGH} or more; `mcpe power` says what so many can show",
        )
    if all(task.trials == 1 for task in tasks):
        _note(
            lowered,
            "MCPE376",
            shares[0],
            "this gate is decided by one trial of each task",
            "Agents do not act twice alike: one trial cannot tell a task that mostly passes from one that mostly fails.",
            "set `trials 3` or more in the suite",
        )
    for rule in shares:
        _allowed(lowered, rule, sum((count or 0) * task.trials for count, task in zip(counts, tasks, strict=True)))


def _allowed(lowered: Lowered, rule: GateRule, trials: int) -> None:
    """A share below 100 % that still allows no failure is not what it looks like."""
    if rule.metric != "task_success" or rule.where or rule.operator not in (">", ">=") or not 0.5 < rule.value < 1:
        return
    allowed = math.floor(trials * (1 - rule.value) + 1e-9)
    if rule.operator == ">" and math.isclose(allowed, trials * (1 - rule.value)):
        allowed -= 1
    if allowed > 0:
        return
    needed = math.ceil(1 / (1 - rule.value) - 1e-9)
    _note(
        lowered,
        "MCPE377",
        rule,
        f"of {trials} trial{'s' if trials != 1 else ''} none may fail under this rule",
        f"{rule.value * 100:g} % of so few trials is all of them.",
        f"{needed} trials are the fewest of which one may fail: add tasks or trials, or write what is meant, `== 100%`",
    )


def _rows(task: Task) -> int | None:
    """How many tasks a task is at most; None where only the run knows."""
    loop = task.loop
    if loop is None:
        return 1
    if loop.rows is not None:
        return min(len(loop.rows), loop.limit) if loop.limit is not None else len(loop.rows)
    return loop.limit


def _note(lowered: Lowered, code: str, rule: GateRule, title: str, body: str, hint: str) -> None:
    lowered.ctx.problems.found.append(Diagnostic(code, title, rule.at, body, hint, "note"))
