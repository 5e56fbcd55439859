"""The real LiteLLM client against a loopback server. Few tests, in one module: importing the library takes seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mcpeval_dsl.agents.drivers.registry import open_driver
from mcpeval_dsl.agents.drivers.settings import DriverSettings
from mcpeval_dsl.agents.model import Driver, HostResult, ModelApiError, Preflight
from mcpeval_dsl.semantics.model import Model
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
)
from tests.agents.turns import request

OPENAI = Model("gpt", "litellm", "openai/stand-in-1")
CLAUDE = Model("claude", "litellm", "anthropic/claude-stand-in")


def driver_at(url: str, model: Model = OPENAI, **changes: Any) -> Driver:
    settings = {"base_url": url, "api_key": "key-1", "request_timeout": 5.0, "retry_time": 5.0, **changes}
    return open_driver(model, DriverSettings(**settings))


def converse(
    answers: Sequence[Answer], box: ToolBox | None = None, model: Model = OPENAI, **changes: Any
) -> tuple[HostResult, ProviderServer]:
    with ProviderServer(answers) as server:
        return run(driver_at(server.url, model, **changes), box), server


@pytest.mark.parametrize("model", [OPENAI, CLAUDE], ids=["openai", "anthropic"])
def test_a_conversation_with_tools_on_both_routes(model: Model) -> None:
    box = ToolBox()
    calls = (("list_issues", {"project": "Billing"}), ("get_issue", {"key": "B-1"}))
    result, server = converse([Say("I look.", calls), Say('{"answer": "B-1"}')], box, model)
    assert (result.answer.text, result.termination) == ("B-1", "answered")
    assert [call[1] for call in box.calls] == ["list_issues", "get_issue"]
    assert (result.usage.input_tokens, result.usage.output_tokens) == (22, 14)
    assert result.usage.cost_usd is None
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "changes"),
    [
        (RateLimited(0.05), {}),
        (Overloaded(), {}),
        (Hang(), {"request_timeout": 0.4}),
        (Hang(0.0), {}),
        (Cut(), {}),
        (Html(), {}),
    ],
    ids=["429", "529", "timeout", "dropped", "cut", "html"],
)
def test_passing_trouble_is_retried_once_by_us_alone(trouble: Answer, changes: dict[str, Any]) -> None:
    result, server = converse([trouble, Say("fine")], **changes)
    assert (result.answer.text, result.turns[0].retries, len(server.requests)) == ("fine", 1, 2)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Fail(401, "Incorrect API key"), "authentication"),
        (Fail(404, "The model does not exist"), "not_found"),
        (Fail(400, "Invalid schema for function 'x': object schema missing properties"), "schema_refused"),
    ],
)
def test_lasting_trouble_is_not_retried(answer: Answer, kind: str) -> None:
    async def once(url: str) -> None:
        driver = driver_at(url)
        try:
            await driver.turn(request())
        finally:
            await driver.close()

    with ProviderServer([answer]) as server, pytest.raises(ModelApiError) as caught:
        asyncio.run(once(server.url))
    assert (caught.value.kind, len(server.requests)) == (kind, 1)


@pytest.mark.parametrize(
    ("answer", "termination"),
    [
        (ContextTooLong(), "host_error"),
        (Say("", stop="refusal"), "refused"),
        (Say("cut o", (("get_issue", {"key": "B-1"}),), stop="max_tokens"), "max_tokens"),
    ],
    ids=["overflow", "filter", "max_tokens"],
)
def test_ends_that_are_the_agents(answer: Answer, termination: str) -> None:
    box = ToolBox()
    result, _ = converse([answer], box)
    assert (result.termination, box.calls) == (termination, [])


def test_arguments_that_are_no_json_reach_the_model_as_an_error() -> None:
    box = ToolBox()
    result, server = converse([Say("", (("get_issue", '{"key": "B-1'),)), Say("sorry, done")], box)
    assert box.calls == []
    told = [m for m in server.requests[1].body["messages"] if m["role"] == "tool"]
    assert "not a JSON object" in told[0]["content"]
    assert result.termination == "answered"


def test_preflight_says_what_is_wrong() -> None:
    async def once(url: str) -> Preflight:
        driver = driver_at(url, retry_time=0.3)
        try:
            return await driver.preflight()
        finally:
            await driver.close()

    with ProviderServer([Say("x")]) as server:
        assert asyncio.run(once(server.url)).ok
    assert "cannot be reached" in asyncio.run(once(server.url)).problem
