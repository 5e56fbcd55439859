"""A server's question reaches the person at a foreign host, in both eras of both; where there is nobody, the trial answers."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp import Client, MCPError

from mcpeval_dsl.gateway.model import Launch
from tests.gateway.hosts import ERAS, as_host, door
from tests.gateway.starting import ENVIRONMENT, SERVERS

REVISIONS = ["2026-07-28", "2025-11-25"]


def modern(folder: Path, revision: str, **more: Any) -> Launch:
    argv = (sys.executable, str(SERVERS / "modern.py"), "stdio")
    variables = {**ENVIRONMENT, "TMPDIR": str(folder)}
    return Launch("modern", argv, env=variables, protocols=(revision,), **({"call_timeout": 20.0} | more))


class Person:
    """Says yes and remembers what it was asked; `pause` seconds of thought."""

    def __init__(self, action: Literal["accept", "decline"] = "accept", pause: float = 0.0) -> None:
        self.asked: list[str] = []
        self.action: Literal["accept", "decline"] = action
        self.pause = pause

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        await asyncio.sleep(self.pause)
        content: Any = {"sure": True, "reason": "I say so"} if self.action == "accept" else None
        return types.ElicitResult(action=self.action, content=content)


async def remove_all(client: Client) -> Any:
    return await client.call_tool("remove_all", {"what": "all"})


async def remove(client: Client) -> Any:
    return await client.call_tool("remove", {"what": "it"})


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("era", ERAS)
def test_the_person_at_the_host_is_asked_each_time(
    tmp_path: Path, era: Literal["auto", "legacy"], revision: str
) -> None:
    person = Person()
    with door(tmp_path, launch=modern(tmp_path, revision), elicit=lambda _: {"action": "decline"}) as trial:
        result = as_host(trial.words, remove_all, era, elicitation_callback=person)
    assert person.asked == ["Really remove all?", "Really, really (I say so)?"]
    assert result.content[0].text == "agreed twice: I say so" and not result.is_error
    (call,) = trial.calls
    assert call.elicited == ("accept", "accept") and call.charged and call.turn == 1
    assert trial.gone()


@pytest.mark.parametrize("era", ERAS)
def test_where_nobody_can_be_asked_the_trial_answers(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    said = {"action": "accept", "content": {"sure": False, "reason": "the trial"}}
    with door(tmp_path, launch=modern(tmp_path, REVISIONS[1]), elicit=lambda _: said) as trial:
        result = as_host(trial.words, remove, era)
    assert result.content[0].text == "accept False the trial"
    assert trial.calls[0].elicited == ("accept",)


@pytest.mark.parametrize("era", ERAS)
def test_a_person_who_declines(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    with door(tmp_path, launch=modern(tmp_path, REVISIONS[1]), elicit=lambda _: {"action": "accept"}) as trial:
        result = as_host(trial.words, remove, era, elicitation_callback=Person("decline"))
    assert result.content[0].text == "decline" and trial.calls[0].elicited == ("decline",)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_does_not_time_out_while_a_person_thinks(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    with door(tmp_path, launch=modern(tmp_path, REVISIONS[1], call_timeout=1.5)) as trial:
        result = as_host(trial.words, remove, era, elicitation_callback=Person(pause=2.5))
    assert result.content[0].text == "accept True I say so" and trial.calls[0].error is None


def test_a_host_that_never_answers_leaves_nothing(tmp_path: Path) -> None:
    async def ask_and_leave(client: Client) -> Any:
        return await client.session.call_tool("remove", {"what": "it"}, allow_input_required=True)

    with door(tmp_path, launch=modern(tmp_path, REVISIONS[1])) as trial:
        asked = as_host(trial.words, ask_and_leave, elicitation_callback=Person())
        assert isinstance(asked, types.InputRequiredResult) and asked.request_state
    (call,) = trial.calls
    assert call.error is not None and call.effect_unknown and trial.gone()


def test_an_answer_that_no_call_waits_for(tmp_path: Path) -> None:
    async def answer(client: Client) -> Any:
        with pytest.raises(MCPError) as refused:
            await client.session.call_tool("remove", {"what": "it"}, request_state="made up", allow_input_required=True)
        return refused.value.code

    with door(tmp_path, launch=modern(tmp_path, REVISIONS[1])) as trial:
        assert as_host(trial.words, answer) == types.INVALID_PARAMS
    assert trial.calls == ()
