"""The same conversation over the real clients of model APIs: what is sent from turn to turn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.provider_server import Fail, ProviderServer, Say
from tests.execute.bench import HEAD, Bench, outcome

BODY = """
task tidy {
  dialogue {
    turn { user "What is on the shelf?"; grade contains "lamp" }
    turn { user "Thank you. Anything else?"; grade contains "vase" }
  }
}
"""
MODELS = {
    "anthropic": ('model online { anthropic "claude" }', "ANTHROPIC_API_KEY", ""),
    "litellm": ('model online { litellm "openai/some" }', "OPENAI_API_KEY", "/v1"),
}


def prepare(bench: Bench, name: str, url: str, body: str) -> None:
    model, key, path = MODELS[name]
    bench.spec(body + "matrix { model = [online] }\n", head=f"{HEAD}{model}\n")
    bench.variables = {key: "sk-test-1"}
    bench.write("mcpe.local.toml", f'[providers.{name}]\nbase_url = "{url}{path}"\npatience = 1.0\ntimeout = 5.0\n')


def roles(request: Any) -> list[str]:
    return [message["role"] for message in request["messages"] if message["role"] != "system"]


@pytest.mark.parametrize("name", MODELS)
def test_each_turn_is_sent_with_all_that_came_before(bench: Bench, name: str) -> None:
    looked_at = [Say("hello")] if name == "litellm" else []
    says = [*looked_at, Say(calls=(("list_things", {}),)), Say("A lamp."), Say("A vase, too.")]
    with ProviderServer(says) as server:
        prepare(bench, name, server.url, BODY)
        done = bench.run()
        sent = [body for body in map(_body, server.requests) if body is not None]
    record = bench.records["tidy#1"]
    assert done.code == 0 and outcome(record) == "pass", (record.trouble, record.verdicts)
    tools = "user" if name == "anthropic" else "tool"
    assert roles(sent[-1]) == ["user", "assistant", tools, "assistant", "user"]
    assert "Thank you" in str(sent[-1]["messages"][-1]["content"])
    assert [each.usage.output_tokens for each in record.exchanges] == [14, 7]


def _body(request: Any) -> Any:
    """The JSON of a request for a message of the trial."""
    body = request if isinstance(request, dict) and "messages" in request else getattr(request, "body", None)
    return body if isinstance(body, dict) and "What is on" in str(body.get("messages")) else None


@pytest.mark.parametrize("name", MODELS)
def test_a_user_whose_api_fails_is_infrastructure(bench: Bench, name: str) -> None:
    body = 'task tidy { dialogue { user simulated online { goal "x" } }; grade contains "x" }\n'
    with ProviderServer([Say("hello"), Fail(500)]) as server:
        prepare(bench, name, server.url, body)
        text = (bench.root / "specs/bench.mcpe").read_text()
        bench.write("specs/bench.mcpe", text.replace("model = [online]", "model = [canned]"))
        done = bench.run()
    record = bench.records["tidy#1"]
    assert done.code == 3 and outcome(record) == "untestable"
    assert record.trouble is not None and record.trouble.chain == ("user_model:500",)
