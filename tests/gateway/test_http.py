"""Sessions over HTTP: both eras, statuses told apart, and a server that dies while it is asked."""

from __future__ import annotations

import asyncio

import pytest

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.errors import classify
from mcpeval_dsl.gateway.model import CallError, CallRecord, Launch
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
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
        launch = Launch("web", url=url, protocols=protocols, call_timeout=60)
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
        error = with_session(Launch("web", url=url, call_timeout=60), use)
    assert error is not None
    error_class, kind, code, words = expected
    assert (error.error_class, error.kind, error.code) == (error_class, kind, code)
    assert words in error.message


def test_our_own_end_of_a_call_is_no_death_of_the_server() -> None:
    async def run(url: str) -> tuple[list[CallRecord], CallRecord, bool]:
        launch = Launch("web", url=url, call_timeout=600)
        gateway = Gateway([launch], {"web": await probe(launch)}, Rules(policy="execute"))
        try:
            await gateway.open()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await gateway.call("agent", "web", "good", {"seconds": 2})
            again = await gateway.call("agent", "web", "good", {})
            return list(gateway.calls), again, bool(gateway.ends)
        finally:
            await gateway.close()

    with http_server("hostile.py", "ok") as url:
        (cut, _), again, ended = asyncio.run(run(url))
    assert cut.error is not None
    assert (cut.error.error_class, cut.error.cause, cut.died) == ("timeout", "harness", False)
    assert (again.text, again.session, ended) == ("good", 1, False)


def test_a_server_that_is_killed_in_mid_request_is_dead_and_nothing_of_ours() -> None:
    with http_server("hostile.py", "exit") as url:
        launch = Launch("web", url=url, call_timeout=600)

        async def run() -> CallRecord:
            gateway = Gateway([launch], {"web": await probe(launch)}, Rules(policy="execute"))
            try:
                await gateway.open()
                return await gateway.call("agent", "web", "bad", {})
            finally:
                await gateway.close()

        record = asyncio.run(run())
    assert record.error is not None
    assert (record.error.error_class, record.error.kind, record.error.cause) == ("transport_error", "closed", "server")
    assert record.died


@pytest.mark.parametrize(
    ("mode", "status", "header"),
    [("401", 401, ("www-authenticate", 'Bearer realm="x"')), ("429", 429, ("retry-after", "3")), ("503", 503, None)],
)
def test_status_and_headers_of_a_failure_are_in_the_record(
    mode: str, status: int, header: tuple[str, str] | None
) -> None:
    async def use(session: Session) -> CallError | None:
        return classify(await session.call("echo", {}))

    with http_server("web.py", mode) as url:
        error = with_session(Launch("web", url=url, call_timeout=60), use)
    assert error is not None
    assert error.status == status
    assert header is None or error.headers[header[0]] == header[1]


def test_closing_twice_is_harmless() -> None:
    async def use(session: Session) -> None:
        await session.close()

    with http_server("web.py", "403") as url:
        with_session(Launch("web", url=url), use)


def test_a_hanging_url_times_out_and_closes_soon() -> None:
    async def use(session: Session) -> str:
        return (await session.call("echo", {})).ending

    with http_server("web.py", "hang") as url:
        assert with_session(Launch("web", url=url, call_timeout=0.3), use) == "timeout"


DROPS = ["close", "reset", "body", "events", "chunk", "resumable", "exit"]


@pytest.mark.parametrize("era", ["discover", "initialize"])
@pytest.mark.parametrize("mode", DROPS)
def test_a_connection_that_breaks_in_mid_request_fails_that_call_at_once_and_no_other(mode: str, era: str) -> None:
    async def run(url: str) -> list[CallRecord]:
        launch = Launch("dropping", url=url, call_timeout=600)
        pin = await probe(launch)
        assert pin.era == era
        gateway = Gateway([launch], {"dropping": pin}, Rules(policy="execute"))
        try:
            await gateway.open()
            slow = asyncio.create_task(gateway.call("agent", "dropping", "slow", {}))
            await asyncio.sleep(0.1)
            first = await gateway.call("agent", "dropping", "bad", {})
            one_by_one = [await gateway.call("agent", "dropping", tool, {}) for tool in ("good", "bad", "good")]
            return [await slow, first, *one_by_one]
        finally:
            await gateway.close()

    with http_server("dropping.py", mode, era) as url:
        slow, *rest = asyncio.run(run(url))
    lost = [record.error for record in rest[::2]]
    assert all(error is not None and (error.error_class, error.kind) == ("transport_error", "closed") for error in lost)
    if mode == "exit":
        assert rest[-1].stop == "server_dead"
    else:
        assert [record.text for record in (slow, *rest[1::2])] == ["good"] * 3
