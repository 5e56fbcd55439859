"""Score, before a run: rules of a gate that so few tasks and trials cannot decide, or not pass however well all goes.

Asked by the command line when it has made a plan; nothing here needs a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.score.segments import selected
from mcpeval_dsl.semantics.model import GateRule, Task
from mcpeval_dsl.statistics.distributions import t_quantile
from mcpeval_dsl.statistics.intervals import Interval, clopper_pearson, wilson, wilson_with
from mcpeval_dsl.statistics.paired import smallest_p
from mcpeval_dsl.statistics.power import PLANNING_BETWEEN, PLANNING_WITHIN, detectable_effect, tasks_needed

_UPWARDS, _DOWNWARDS = (">", ">="), ("<", "<=")
_COARSE = 0.30
_WITHIN = (PLANNING_WITHIN, PLANNING_WITHIN)


@dataclass(frozen=True, slots=True)
class _Planned:
    """Tasks of one cell and split that a rule is about; `trials` of each, the fewest."""

    tasks: int
    clusters: int
    trials: int


def foresee(plan: Plan) -> list[Diagnostic]:
    """Warnings, at most one for each rule."""
    return [found for rule in plan.suite.gate.rules if (found := _rule(rule, plan)) is not None]


def _rule(rule: GateRule, plan: Plan) -> Diagnostic | None:
    planned = list(_planned(rule, plan))
    if not planned:
        return None
    fewest = min(planned, key=lambda each: (each.clusters, each.tasks * each.trials))
    if rule.metric.startswith("judge."):
        return None  # of labelled answers, not of tasks
    if rule.metric in ("lift", "compare"):
        return _of_difference(rule, fewest)
    return _of_bound(rule, fewest) if rule.bound is not None else None


def _planned(rule: GateRule, plan: Plan) -> Iterator[_Planned]:
    tasks: Mapping[str, Task] = {task.name: task for task in plan.tasks}
    cells: dict[tuple[str, str], list[TrialGroup]] = {}
    for node in plan.nodes:
        if isinstance(node, TrialGroup) and selected(rule, tasks[node.task], node.cell, plan):
            cells.setdefault((node.cell, tasks[node.task].split), []).append(node)
    for groups in cells.values():
        clusters = {tasks[group.task].cluster or group.task for group in groups}
        yield _Planned(len(groups), len(clusters), min(group.trials for group in groups))


def _of_bound(rule: GateRule, planned: _Planned) -> Diagnostic | None:
    """The bound if every trial went as the rule wishes: what is out of reach then is out of reach."""
    upwards = rule.operator in _UPWARDS
    if not upwards and rule.operator not in _DOWNWARDS:
        return None
    best = _best(rule, planned, 1.0 if upwards else 0.0)
    if best is None:
        return _warning(
            rule,
            f"`{rule.metric}` has no interval here: all its tasks form one cluster",
            "give the tasks clusters of their own, or ask for the estimate",
        )
    reach = best.low if rule.bound == "low" else best.high
    if (reach >= rule.value) if upwards else (reach <= rule.value):
        return None
    needed = _enough(rule, planned, upwards)
    so_many = "one task" if planned.tasks == 1 else f"{planned.clusters} independent tasks"
    more = f"it takes {needed} of them, " if needed else ""
    return _warning(
        rule,
        f"this rule cannot pass: with {so_many} `{rule.metric}.{rule.bound}` is {reach * 100:.1f} % at best",
        f"{more}or ask for the estimate: `{rule.metric} {rule.operator} {rule.value * 100:g}%`",
    )


def _best(rule: GateRule, planned: _Planned, share: float) -> Interval | None:
    of_chance = rule.metric.startswith("pass")
    if planned.tasks == 1:
        passed = share * planned.trials
        return None if of_chance else clopper_pearson(passed, planned.trials)
    if of_chance:
        return wilson(share, planned.tasks)
    if planned.clusters < 2:
        return None
    return wilson_with(share, planned.clusters, t_quantile(0.975, planned.clusters - 1))


def _enough(rule: GateRule, planned: _Planned, upwards: bool) -> int | None:
    """The fewest tasks with which the bound could be reached; None where a thousand are too few."""
    for tasks in range(planned.tasks + 1, 1001):
        best = _best(rule, _Planned(tasks, tasks, planned.trials), 1.0 if upwards else 0.0)
        if best is not None and (best.low >= rule.value if upwards else best.high <= rule.value):
            return tasks
    return None


def _of_difference(rule: GateRule, planned: _Planned) -> Diagnostic | None:
    """Planning variances: what no earlier run has measured is taken from `statistics.power`."""
    level = smallest_p(planned.clusters)
    if level > 0.05:
        return _warning(
            rule,
            f"{planned.clusters} independent task{'' if planned.clusters == 1 else 's'} can show no difference: "
            f"p cannot fall below {level:.3g}",
            "six or more are needed before a difference can be told from chance",
        )
    seen = detectable_effect(planned.clusters, PLANNING_BETWEEN, _WITHIN, (planned.trials, planned.trials))
    asked = abs(rule.value) or _COARSE
    if seen <= asked:
        return None
    needed = math.ceil(tasks_needed(asked, PLANNING_BETWEEN, _WITHIN, (planned.trials, planned.trials)))
    return _warning(
        rule,
        f"too few trials to see {asked * 100:g} points: {planned.clusters} tasks of {planned.trials} "
        f"trial{'' if planned.trials == 1 else 's'} show {seen * 100:.0f} points in 80 of 100 runs",
        f"about {needed} tasks would show {asked * 100:g} points; `mcpe power` says it for other numbers",
    )


def _warning(rule: GateRule, title: str, hint: str) -> Diagnostic:
    return Diagnostic(
        code="MCPE581",
        title=title,
        at=rule.at,
        body="What a gate asks for has to be within reach of the tasks and trials that are planned.",
        hint=hint,
        severity="warning",
    )
