"""The official client against a loopback server: what each answer of the API means for a trial."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mcpeval_dsl.agents.drivers.registry import open_driver
from mcpeval_dsl.agents.drivers.settings import DriverSettings
from mcpeval_dsl.agents.model import Driver, HostResult, ModelApiError, Preflight, Settings, Turn
from mcpeval_dsl.semantics.model import Model, Price
from tests.agents.conversation import ToolBox, run
from tests.agents.provider_server import (
    Answer,
    ContextTooLong,
    Cut,
    Fail,
    Hang,
    Html,
    Overloaded,
    ProviderServer,
    RateLimited,
    Say,
    SchemaRefused,
)
from tests.agents.turns import request

MODEL = Model("sonnet", "anthropic", "claude-sonnet-4-5")


def driver_at(url: str, model: Model = MODEL, **changes: Any) -> Driver:
    settings = {"base_url": url, "api_key": "key-1", "request_timeout": 5.0, "retry_time": 5.0, **changes}
    return open_driver(model, DriverSettings(**settings))


def ask(answers: Sequence[Answer], model: Model = MODEL, **changes: Any) -> tuple[Turn, ProviderServer]:
    async def once(url: str) -> Turn:
        driver = driver_at(url, model, **changes)
        try:
            return await driver.turn(request())
        finally:
            await driver.close()

    with ProviderServer(answers) as server:
        return asyncio.run(once(server.url)), server


def converse(
    answers: Sequence[Answer], box: ToolBox | None = None, **changes: Any
) -> tuple[HostResult, ProviderServer]:
    with ProviderServer(answers) as server:
        return run(driver_at(server.url, **changes), box), server


async def preflight(url: str, **changes: Any) -> Preflight:
    driver = driver_at(url, **changes)
    try:
        return await driver.preflight()
    finally:
        await driver.close()


def look(answers: Sequence[Answer], **changes: Any) -> Preflight:
    with ProviderServer(answers, counts_tokens=False, key="key-1") as server:
        return asyncio.run(preflight(server.url, **changes))


def test_a_conversation_with_tools_goes_back_unchanged_and_is_counted() -> None:
    box = ToolBox()
    result, server = converse(
        [Say("I look.", (("list_issues", {"project": "Billing"}),)), Say('{"answer": "B-1"}', cache_read_tokens=5)], box
    )
    assert (result.answer.text, result.termination) == ("B-1", "answered")
    assert box.calls == [("tracker", "list_issues", {"project": "Billing"}, 1, "list_issues")]
    assert (result.usage.input_tokens, result.usage.cache_read_tokens) == (27, 5)
    assert result.usage.cost_usd is None, "an unknown price is unknown, not free"
    sent = server.requests[1].body["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"][1]["name"] == "list_issues"
    assert sent[2]["content"][0]["tool_use_id"] == sent[1]["content"][1]["id"]
    assert server.requests[0].headers["authorization"] == "Bearer key-1"
    assert "temperature" not in server.requests[0].body


def test_settings_reach_the_wire() -> None:
    async def once(url: str) -> Turn:
        driver = driver_at(url)
        try:
            return await driver.turn(request(settings=Settings(2048, 0.0, 1024, parallel_tools=False)))
        finally:
            await driver.close()

    with ProviderServer([Say("x")]) as server:
        asyncio.run(once(server.url))
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.0, 2048)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert body["tool_choice"]["disable_parallel_tool_use"] is True


def test_the_price_of_the_spec_makes_the_cost() -> None:
    turn, _ = ask([Say("x")], Model("m", "anthropic", "claude", price=Price(0.001, 0.002)))
    assert turn.usage.cost_usd == pytest.approx(11 * 0.001 + 7 * 0.002)


@pytest.mark.parametrize(
    ("trouble", "changes"),
    [
        (RateLimited(0.05), {}),
        (Overloaded(), {}),
        (Fail(500), {}),
        (Fail(503), {}),
        (Hang(), {"request_timeout": 0.3}),
        (Hang(0.0), {}),
        (Cut(), {}),
        (Html(), {}),
    ],
    ids=["429", "529", "500", "503", "timeout", "dropped", "cut", "html"],
)
def test_passing_trouble_is_retried_and_booked_as_waiting(trouble: Answer, changes: dict[str, Any]) -> None:
    turn, server = ask([trouble, Say("fine")], **changes)
    assert (turn.message.text, turn.retries, len(server.requests)) == ("fine", 1, 2)
    assert turn.waited_ms > 0


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        (Fail(401, "bad key"), "authentication", 1),
        (Fail(404, "model: claude-x"), "not_found", 1),
        (Fail(400, "max_tokens: too large"), "bad_request", 1),
        (SchemaRefused(), "schema_refused", 1),
        (Html(), "malformed", 3),
    ],
)
def test_lasting_trouble_is_not_retried_forever(answer: Answer, kind: str, requests: int) -> None:
    with ProviderServer([answer]) as server, pytest.raises(ModelApiError) as caught:

        async def once() -> None:
            driver = driver_at(server.url)
            try:
                await driver.turn(request())
            finally:
                await driver.close()

        asyncio.run(once())
    assert (caught.value.kind, len(server.requests)) == (kind, requests)


def test_a_storm_of_429_ends_as_trouble_of_the_api_and_never_as_an_answer() -> None:
    result, server = converse([RateLimited()], retry_time=0.6)
    assert (result.answer.form, result.termination) == ("none", "model_api")
    assert result.trouble is not None
    assert (result.trouble.kind, result.trouble.when, result.trouble.chain) == (
        "model_api",
        "before_answer",
        ("model_api:429",),
    )
    assert len(server.requests) > 1


def test_retry_after_beyond_the_deadline_is_not_waited_out() -> None:
    result, server = converse([RateLimited(4_000_000)], retry_time=2.0)
    assert result.termination == "deadline"
    assert result.trouble is not None and result.trouble.chain == ("model_api:429", "deadline")
    assert len(server.requests) == 1


def test_a_prompt_too_long_is_the_agents_end_not_the_apis() -> None:
    result, _ = converse([ContextTooLong()])
    assert result.termination == "host_error"
    assert result.trouble is not None and result.trouble.kind == "context_overflow"


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "model_context_window_exceeded"])
def test_tools_of_a_turn_that_was_cut_are_not_executed(stop: str) -> None:
    box = ToolBox()
    result, server = converse([Say("", (("get_issue", {"key": "B-1"}),), stop)], box)
    assert box.calls == [] and len(server.requests) == 1
    assert result.turns[0].requests[0].wire_name == "get_issue"


def test_a_paused_turn_is_sent_back_and_goes_on() -> None:
    result, server = converse([Say("thinking", stop="pause_turn"), Say("done")])
    assert result.answer.text == "done"
    assert server.requests[1].body["messages"][1]["content"][0]["text"] == "thinking"


def test_preflight_names_what_is_wrong() -> None:
    assert look([Say("x")]).ok
    assert "refuses the key" in look([Say("x")], api_key="other").problem
    assert "there is no API key" in look([Say("x")], api_key=None).problem
    unknown = look([Fail(404, "model: claude-sonnet-4-5")])
    assert "does not know the model 'claude-sonnet-4-5'" in unknown.problem


def test_preflight_of_an_address_where_nothing_listens_says_so() -> None:
    with ProviderServer([Say("x")]) as server:
        gone = server.url
    seen = asyncio.run(preflight(gone, retry_time=0.2))
    assert not seen.ok and "cannot be reached" in seen.problem
