"""Questions of checks over HTTP to servers that answer slowly, oddly, or at no address."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from mcpeval_dsl.gateway import asking
from mcpeval_dsl.gateway.asking import HttpAsker, origin_of
from mcpeval_dsl.gateway.model import Launch, ServerStartError
from tests.values.test_web import answering

T = TypeVar("T")
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def asked(url: str, question: Callable[[HttpAsker], Awaitable[T]]) -> T:
    async def run() -> T:
        async with HttpAsker(Launch("slow", url=url), {}).open() as asker:
            return await question(asker)

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "CONNECT_SECONDS", 0.3)


def test_a_document_that_never_ends_is_given_up() -> None:
    with (
        answering(b"HTTP/1.1 200 OK\r\n\r\n", b" ", every=0.05, last=False) as url,
        pytest.raises(ServerStartError) as caught,
    ):
        asked(url, lambda asker: asker.get(url, {}, 0.2))
    assert "no whole answer within 0.2 s" in str(caught.value)


def test_a_stream_of_comments_has_no_first_event() -> None:
    with answering(STREAM, b": still here\n\n", every=0.05, last=False) as url:
        assert asked(url, lambda asker: asker.first_event(url, 0.2)) == (200, "")


def test_a_stream_of_comments_is_no_answer() -> None:
    with answering(STREAM, b": still here\n\n", every=0.05, last=False) as url:
        message, problem, _, _ = asked(url, lambda asker: asker.exchange("{}", 1, {}, 0.2))
    assert message is None and problem == "no answer within 0.2 s"


@pytest.mark.parametrize(
    "url", ["http://[broken", "http://127.0.0.1:99999/", "http://127.0.0.1/\x01", "ftp://127.0.0.1/"]
)
def test_what_is_no_address_cannot_be_asked(url: str) -> None:
    with pytest.raises(ServerStartError):
        asked("http://127.0.0.1:9", lambda asker: asker.get(url, {}, 0.2))


def test_the_origin_of_what_is_no_url_is_like_no_other() -> None:
    assert origin_of("http://[broken") == "http://[broken"
    assert origin_of("http://a.example:1/b") == "http://a.example:1"
