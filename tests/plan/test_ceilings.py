"""Upper bounds of calls, tokens, cost and time, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.plan.model import Ceiling
from mcpeval_dsl.plan.prices import per_token, priced, table
from mcpeval_dsl.semantics.model import Budget, Cell, Host, Limit, Model, Price

from . import suites as s

HARD = Budget(calls=Limit(6, 15), tokens=Limit(None, 40_000), cost=Limit(None, 0.5), time=Limit(60, 120))
LITE = Model("lite", "litellm", "vendor/unheard-of")


def _ceiling(name: str, task: dict[str, Any] | None = None, **suite: Any) -> Ceiling:
    values: dict[str, Any] = {
        "tasks": (s.plain("t", **({"budget": HARD} | (task or {}))),),
        "cells": (Cell("sonnet", "sonnet", "loop"),),
    }
    found: Ceiling = getattr(s.made(s.suite(**(values | suite))).ceilings, name)
    return found


@pytest.mark.parametrize(("name", "value"), [("calls", 75), ("tokens", 200_000), ("cost_usd", 2.5), ("seconds", 600)])
def test_hard_budgets_times_trials(name: str, value: float) -> None:
    assert _ceiling(name) == Ceiling(value=value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("calls", "t: no hard budget of calls, and a turn may hold any number of them"),
        ("tokens", "t: no hard budget of tokens"),
        ("cost_usd", "t: no hard budget of cost or tokens"),
        ("seconds", "t: no hard budget of time"),
    ],
)
def test_soft_budget_bounds_nothing(name: str, why: str) -> None:
    soft = Budget(calls=Limit(6), tokens=Limit(5), cost=Limit(0.1), time=Limit(1))
    assert _ceiling(name, {"budget": soft}) == Ceiling(value=None, reason=why)


def test_one_tool_at_a_time_is_bounded_by_turns() -> None:
    hosts = (Host("loop", parallel_tools=False, max_turns=12),)
    assert _ceiling("calls", {"budget": Budget()}, hosts=hosts).value == 60
    assert _ceiling("calls", {"budget": Budget(turns=Limit(None, 4))}, hosts=hosts).value == 20


def test_cost_by_tokens_is_of_the_dearest_token() -> None:
    assert _ceiling("cost_usd", {"budget": replace(HARD, cost=Limit())}).value == pytest.approx(5 * 40_000 * 15e-6)


def test_unknown_price_is_an_unknown_ceiling_and_a_warning() -> None:
    suite = s.suite(models=(LITE,), cells=(Cell("lite", "lite", "loop"),), tasks=(s.plain("t", budget=HARD),))
    plan = s.made(suite)
    assert plan.ceilings.cost_usd.value is None
    assert "the price of model lite (vendor/unheard-of) is unknown" in plan.ceilings.cost_usd.reason
    assert [w.code for w in plan.warnings] == ["MCPE580"]


@pytest.mark.parametrize("price", [None, Price(), Price(0.0, 0.0), Price(1e-6, 0.0), Price(None, 1e-6)])
def test_no_price_and_zero_are_unknown(price: Price | None) -> None:
    assert per_token(replace(LITE, price=price)) is None


def test_scripted_models_cost_nothing_and_it_is_said() -> None:
    cells = (Cell("canned", "canned", "loop"),)
    assert _ceiling("cost_usd", cells=cells) == Ceiling(value=0.0, reason="scripted")
    assert _ceiling("tokens", cells=cells).value == 0


def test_a_budget_per_turn_counts_for_each_turn() -> None:
    per_turn = {"budget": Budget(), "budget_per_turn": Budget(calls=Limit(2, 3))}
    assert _ceiling("calls", per_turn).value == 5 * 3
    assert _ceiling("calls", per_turn | {"dialogue": s.dialogue()}).value == 5 * 2 * 3
    assert _ceiling("calls", per_turn | {"dialogue": s.dialogue(user=s.user("sonnet"))}).value == 5 * 12 * 3
    assert _ceiling("calls", per_turn | {"budget": HARD, "dialogue": s.dialogue(user=s.user("sonnet"))}).value == 75


def test_playing_a_user_has_no_bound() -> None:
    found = _ceiling("cost_usd", {"dialogue": s.dialogue(user=s.user("sonnet"))})
    assert found == Ceiling(value=None, reason="agents at most $2.50; playing users by sonnet has no bound")
    free = _ceiling("cost_usd", {"dialogue": s.dialogue(user=s.user("canned"))})
    assert free.value == 2.5


def test_judging_has_no_bound() -> None:
    found = _ceiling("cost_usd", {"graders": (s.judged(),)})
    assert found == Ceiling(value=None, reason="agents at most $2.50; judging by sonnet has no bound")


def test_scripted_judge_is_free() -> None:
    assert _ceiling("cost_usd", {"graders": (s.judged(model="canned"),)}).value == 2.5


def test_price_per_call_of_a_server_is_added() -> None:
    servers = (replace(s.suite().servers[0], price_per_call=0.01),)
    assert _ceiling("cost_usd", servers=servers).value == pytest.approx(2.5 + 75 * 0.01)


def test_price_per_call_without_a_bound_of_calls() -> None:
    servers = (replace(s.suite().servers[0], price_per_call=0.01),)
    assert _ceiling("cost_usd", {"budget": replace(HARD, calls=Limit())}, servers=servers).value is None


def test_reason_names_the_tasks_once() -> None:
    tasks = tuple(s.plain(f"t{i}", budget=Budget()) for i in range(5))
    assert _ceiling("tokens", tasks=tasks).reason == "5 tasks (t0, t1, t2, …): no hard budget of tokens"


def test_table_of_prices_is_per_token_and_never_zero() -> None:
    assert all(p.input and p.output and 0 < p.input < p.output < 1e-3 for p in table().values())


def test_spec_s_price_goes_before_the_table() -> None:
    assert priced(replace(s.SONNET, price=Price(1e-6, 2e-6))).price == Price(1e-6, 2e-6)
    assert priced(s.SONNET).price == Price(3e-6, 15e-6)
    assert priced(Model("x", "litellm", "anthropic/claude-sonnet-4-5")).price == Price(3e-6, 15e-6)
    assert priced(s.CANNED).price is None
