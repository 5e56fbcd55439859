"""Questions of a server to a person: asked on the wire of the older era, as a result to be repeated in the newer one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import Launch
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.session import open_session
from tests.gateway.starting import ENVIRONMENT, SERVERS, http_server

ERAS = [("2026-07-28", "discover"), ("2025-11-25", "initialize")]


ANSWERS = {"it": "accept True Really remove it?", "nothing": "decline", "something": "cancel"}


def person(question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Agrees, but not to removing nothing; and goes away when asked about something."""
    for word, action in (("nothing", "decline"), ("something", "cancel")):
        if word in question["message"]:
            return {"action": action}
    return {"action": "accept", "content": {"sure": True, "reason": question["message"]}}


def launched(revision: str) -> Launch:
    argv = (sys.executable, str(SERVERS / "modern.py"), "stdio")
    return Launch("modern", argv, env=ENVIRONMENT, protocols=(revision,), call_timeout=20.0)


def texts(result: Any) -> str:
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(("revision", "era"), ERAS)
def test_a_server_gets_the_same_answers_in_both_eras(revision: str, era: str) -> None:
    async def run() -> None:
        launch = launched(revision)
        pin = await probe(launch)
        assert pin.era == era
        session = await open_session(launch, pin, elicit=person)
        try:
            for what, expected in ANSWERS.items():
                wire = await session.call("remove", {"what": what})
                assert wire.result is not None
                assert texts(wire.result).strip() == expected
            wire = await session.call("remove_all", {"what": "all"})
            assert wire.result is not None
            assert texts(wire.result) == "agreed twice: Really, really (Really remove all?)?"
        finally:
            await session.close()

    asyncio.run(run())


@pytest.mark.parametrize(("revision", "era"), ERAS)
def test_questions_are_answered_over_http(revision: str, era: str) -> None:
    async def run(url: str) -> None:
        launch = Launch("modern", url=url, protocols=(revision,), call_timeout=20.0)
        pin = await probe(launch)
        session = await open_session(launch, pin, elicit=person)
        try:
            wire = await session.call("remove", {"what": "it"})
            assert wire.result is not None
            assert (session.info.era, texts(wire.result)) == (era, "accept True Really remove it?")
        finally:
            await session.close()

    with http_server("modern.py", "http") as url:
        asyncio.run(run(url))


@pytest.mark.parametrize(("revision", "era"), ERAS)
def test_what_we_declare_is_the_same_whoever_asks_and_is_told(revision: str, era: str) -> None:
    async def run() -> tuple[Any, Any]:
        launch = launched(revision)
        session = await open_session(launch, await probe(launch), elicit=None)
        try:
            wire = await session.call("declared", {})
            assert wire.result is not None
            return json.loads(texts(wire.result)), dict(session.info.client_capabilities)
        finally:
            await session.close()

    expected = {"elicitation": {"form": {}, "url": {}}}
    assert asyncio.run(run()) == (expected, expected)
