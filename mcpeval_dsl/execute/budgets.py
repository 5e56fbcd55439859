"""From what a trial has used to which limits it passed, as its record keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcpeval_dsl.agents.model import Exchange, HostResult
from mcpeval_dsl.records.model import BudgetUse, TokenUse
from mcpeval_dsl.semantics.model import Budget, Limit, Task


def budget_of(
    task: Task, usage: TokenUse, host: HostResult | None, agent_ms: float, turn_calls: Sequence[int]
) -> BudgetUse:
    """Limits of the whole trial and of each turn of the user. `turn_calls` are those charged in each."""
    used = {
        "tokens": float(usage.input_tokens + usage.output_tokens),
        "cost": usage.cost_usd,
        "time": agent_ms / 1000.0,
        "turns": float(len(host.turns)) if host is not None else 0.0,
    }
    over = _over(task.budget, used)
    exchanges = host.exchanges if host is not None else ()
    per_turn = [name for exchange in exchanges for name in _over(task.budget_per_turn, _used_in(exchange))]
    calls, turn = task.budget.calls, task.budget_per_turn.calls
    return BudgetUse(
        calls_soft=_whole(calls.soft),
        calls_hard=_whole(calls.hard),
        turn_calls_soft=_whole(turn.soft),
        turn_calls_hard=_whole(turn.hard),
        turn_calls=tuple(turn_calls) if turn != Limit() else (),
        over=(*over, *dict.fromkeys(f"{name} per turn" for name in per_turn)),
    )


def _over(budget: Budget, used: Mapping[str, float | None]) -> list[str]:
    limits = {"tokens": budget.tokens, "cost": budget.cost, "time": budget.time, "turns": budget.turns}
    return [
        name
        for name, limit in limits.items()
        if limit.soft is not None and (value := used[name]) is not None and value > limit.soft
    ]


def _used_in(exchange: Exchange) -> dict[str, float | None]:
    usage = exchange.usage
    return {
        "tokens": float(usage.input_tokens + usage.output_tokens),
        "cost": usage.cost_usd,
        "time": exchange.agent_ms / 1000.0,
        "turns": float(exchange.last - exchange.first + 1),
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
