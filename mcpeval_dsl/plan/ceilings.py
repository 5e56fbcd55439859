"""Plan: upper bounds of what a run can use, in calls, tokens, USD and seconds; None with the reason where nothing bounds it.

Only a hard limit bounds: a soft one decides the outcome and stops nothing. Seconds are of trials one after another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mcpeval_dsl.plan.model import Ceiling, Ceilings
from mcpeval_dsl.plan.prices import free, per_token
from mcpeval_dsl.semantics.graders import Judge
from mcpeval_dsl.semantics.model import Host, Model, Server, Task
from mcpeval_dsl.semantics.task_parts import all_graders, most_said, user_model


@dataclass(frozen=True, slots=True)
class Load:
    """`trials` trials of one task in one cell: all that a bound depends on."""

    task: Task
    model: Model
    host: Host
    servers: tuple[Server, ...]
    trials: int


@dataclass(frozen=True, slots=True)
class Bound:
    """Of one trial; `why` where `value` is None."""

    value: float | None
    why: str = ""


def ceilings(loads: Iterable[Load], judges: dict[str, Model]) -> Ceilings:
    """Sums over all groups. `judges` are the models by name that judge graders may ask."""
    everything = list(loads)
    cost = _total(everything, cost_of_trial)
    return Ceilings(
        calls=_total(everything, calls_of_trial),
        tokens=_total(everything, tokens_of_trial),
        cost_usd=_with_judging(cost, everything, judges),
        seconds=_total(everything, seconds_of_trial),
    )


def calls_of_trial(load: Load) -> Bound:
    """The hard budget, else one call a turn where the host asks for one tool at a time."""
    budget = load.task.budget
    said = most_said(load.task)
    turn = load.task.budget_per_turn.calls.hard
    limits = [limit for limit in (budget.calls.hard, turn and turn * said) if limit is not None]
    if limits:
        return Bound(min(limits))
    if not load.host.parallel_tools:
        most = load.host.max_turns * said
        return Bound(most if budget.turns.hard is None else min(budget.turns.hard, most))
    return Bound(None, "no hard budget of calls, and a turn may hold any number of them")


def tokens_of_trial(load: Load) -> Bound:
    if free(load.model) and load.model.driver != "local":
        return Bound(0)
    if load.task.budget.tokens.hard is not None:
        return Bound(load.task.budget.tokens.hard)
    return Bound(None, "no hard budget of tokens")


def cost_of_trial(load: Load) -> Bound:
    """The model's part (hard budget, or the dearest token times the hard budget of tokens) and the servers' part."""
    paid = [s.price_per_call for s in load.servers if s.price_per_call]
    calls = calls_of_trial(load)
    if paid and calls.value is None:
        return Bound(None, f"calls cost money and have {calls.why}")
    servers = max(paid) * calls.value if paid and calls.value is not None else 0.0
    agent = _model_cost(load)
    return agent if agent.value is None else Bound(agent.value + servers)


def _model_cost(load: Load) -> Bound:
    price = per_token(load.model)
    if price is None:
        return Bound(None, f"the price of model {load.model.name} ({load.model.target}) is unknown")
    if price == 0:
        return Bound(0)
    tokens = load.task.budget.tokens.hard
    bounds = [b for b in (load.task.budget.cost.hard, tokens * price if tokens is not None else None) if b is not None]
    return Bound(min(bounds)) if bounds else Bound(None, "no hard budget of cost or tokens")


def seconds_of_trial(load: Load) -> Bound:
    if load.task.budget.time.hard is not None:
        return Bound(load.task.budget.time.hard)
    return Bound(None, "no hard budget of time")


def _total(loads: list[Load], bound: Callable[[Load], Bound]) -> Ceiling:
    """Exact sum; the reason names each cause once with the tasks it stands for."""
    values: list[float] = []
    missing: dict[str, dict[str, None]] = {}
    for load in loads:
        found = bound(load)
        if found.value is None:
            missing.setdefault(found.why, {})[load.task.name] = None
        else:
            values.append(found.value * load.trials)
    if missing:
        return Ceiling(value=None, reason="; ".join(f"{_tasks(list(n))}: {why}" for why, n in missing.items()))
    return Ceiling(value=round(math.fsum(values), 9))


def _tasks(names: list[str]) -> str:
    shown = ", ".join(names[:3]) + ("" if len(names) <= 3 else ", …")
    return f"{len(names)} tasks ({shown})" if len(names) > 1 else shown


def _with_judging(cost: Ceiling, loads: list[Load], judges: dict[str, Model]) -> Ceiling:
    """A judge and a player of a user read what the agent wrote, so nothing bounds their cost unless they are free."""
    judging = {name for load in loads for name in judge_models(load.task)}
    playing = {name for load in loads if (name := user_model(load.task)) is not None}
    asked = sorted(judging | playing)
    paid = [name for name in asked if name not in judges or not free(judges[name])]
    if not paid:
        if loads and all(free(load.model) for load in loads) and cost.value == 0:
            return Ceiling(value=0.0, reason="scripted")
        return cost
    agents = f"agents at most ${cost.value:.2f}" if cost.value is not None else cost.reason
    what = " and ".join(word for word, names in (("judging", judging), ("playing users", playing)) if names & set(paid))
    return Ceiling(value=None, reason=f"{agents}; {what} by {', '.join(paid)} has no bound")


def judge_models(task: Task) -> tuple[str, ...]:
    """Models that the judge graders of a task ask, in order of name."""
    asked = (grader for grader in all_graders(task) if isinstance(grader, Judge))
    return tuple(sorted({name for grader in asked for name in (grader.model, grader.second) if name}))
