"""Sessions over HTTP: both eras, statuses told apart, and a server that dies while it is asked."""

from __future__ import annotations

import time

import pytest

from mcpeval_dsl.gateway.errors import classify
from mcpeval_dsl.gateway.model import CallError, Launch
from mcpeval_dsl.gateway.session import Session
from tests.gateway.starting import http_server, with_session


@pytest.mark.parametrize(
    ("protocols", "revision"), [((), "2026-07-28"), (("2025-11-25",), "2025-11-25")], ids=["newest", "older"]
)
def test_a_server_dies_in_mid_request(protocols: tuple[str, ...], revision: str) -> None:
    async def use(session: Session) -> tuple[str, object, str, str]:
        good = await session.call("add", {"a": 1, "b": 2})
        assert good.result is not None
        bad = await session.call("add", {"a": 99, "b": 2})
        error = classify(bad)
        assert error is not None
        again = await session.call("add", {"a": 1, "b": 2})
        return session.info.revision, good.result["structuredContent"], error.error_class, again.ending

    with http_server("modern.py", "http") as url:
        launch = Launch("web", url=url, protocols=protocols, call_timeout=5)
        assert with_session(launch, use) == (revision, {"result": 3}, "transport_error", "dead")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("401", ("transport_error", "denied", 401, "www-authenticate")),
        ("403", ("transport_error", "denied", 403, "HTTP status 403")),
        ("429", ("transport_error", "rate", 429, "retry-after: 3")),
        ("503", ("transport_error", "internal", 503, "HTTP status 503")),
        ("302", ("transport_error", "unknown", 302, "redirects to http://localhost/")),
        ("html", ("invalid_result", "unknown", 200, "text/html")),
        ("not_json", ("invalid_result", "unknown", 200, "not JSON")),
        ("cut", ("transport_error", "closed", None, "event stream ended")),
        ("own_error", ("protocol_error", "not_found", -32602, "Unknown tool")),
    ],
)
def test_http_failures_are_told_apart(mode: str, expected: tuple[str, str, int | None, str]) -> None:
    async def use(session: Session) -> CallError | None:
        return classify(await session.call("echo", {}))

    with http_server("web.py", mode) as url:
        error = with_session(Launch("web", url=url, call_timeout=5), use)
    assert error is not None
    error_class, kind, code, words = expected
    assert (error.error_class, error.kind, error.code) == (error_class, kind, code)
    assert words in error.message


def test_closing_twice_is_harmless() -> None:
    async def use(session: Session) -> None:
        await session.close()

    with http_server("web.py", "403") as url:
        with_session(Launch("web", url=url), use)


def test_a_hanging_url_times_out_and_closes_soon() -> None:
    async def use(session: Session) -> tuple[str, float]:
        wire = await session.call("echo", {})
        begun = time.monotonic()
        await session.close()
        return wire.ending, time.monotonic() - begun

    with http_server("web.py", "hang") as url:
        ending, took = with_session(Launch("web", url=url, call_timeout=0.3), use)
    assert ending == "timeout"
    assert took < 8
