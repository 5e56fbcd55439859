"""Which call a fault hits, and what it looks like on each transport."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.errors import classify
from mcpeval_dsl.gateway.faults import EXPIRED, Faults, injection_of
from mcpeval_dsl.gateway.model import CallRecord, Launch, Permission
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import EffectPattern, Literal, Ref
from mcpeval_dsl.values.model import Scope
from tests.gateway.calls import catalogue, pattern
from tests.gateway.starting import http_server, tiny

STDIO, WEB = Launch("tracker", ("tracker",)), Launch("tracker", url="http://localhost/mcp")


def call(tool: str = "get_issue", actor: Any = "agent", server: str = "tracker", **arguments: Any) -> CallRecord:
    return CallRecord("c1", actor, server, tool, arguments, permission=Permission("allowed", "readonly"))


def struck(line: Fault, calls: list[CallRecord], **more: Any) -> list[str]:
    """The words of the fault for each call, empty where none hits it."""
    faults = Faults((line,), **more)
    return [hit.words if (hit := faults.strike(each, STDIO, 5.0)) is not None else "" for each in calls]


GET = (pattern("get_issue"),)


@pytest.mark.parametrize(
    ("line", "calls", "wanted"),
    [
        (Fault("timeout", GET), [call(), call(), call("list_issues")], ["timeout", "timeout", ""]),
        (Fault("timeout", GET, nth=2), [call(), call(), call()], ["", "timeout", ""]),
        (Fault("timeout", GET, nth=2), [call(), call("list_issues"), call()], ["", "", "timeout"]),
        (Fault("timeout", (pattern("*"),)), [call("anything")], ["timeout"]),
        (Fault("timeout", (pattern("get_*", "tracker"),)), [call(server="wiki"), call()], ["", "timeout"]),
        (Fault("timeout", (pattern("get_issue", key="A-1"),)), [call(key="A-2"), call(key="A-1")], ["", "timeout"]),
        (Fault("timeout", (pattern("get_issue"), pattern("list_*"))), [call(), call("list_all")], ["timeout"] * 2),
        (Fault("timeout", (EffectPattern("readonly"),)), [call()], ["timeout"]),
        (Fault("timeout", (EffectPattern("destructive"),)), [call()], [""]),
        (Fault("timeout", (pattern("get_issue", key="$unknown"),)), [call(key="A-1")], [""]),
        (Fault("timeout", GET, probability=0.0), [call()] * 9, [""] * 9),
        (Fault("timeout", GET, probability=1.0), [call()] * 3, ["timeout"] * 3),
        (Fault("timeout", GET, nth=2, probability=0.0), [call()] * 3, [""] * 3),
        (Fault("timeout", GET), [call(actor="harvest"), call(actor="grader"), call(actor="setup")], ["", "", ""]),
        (Fault("http", GET, code=503), [call()], ["http 503"]),
        (Fault("slow", GET, seconds=3.0), [call()], ["slow 3s"]),
    ],
)
def test_which_calls_are_hit(line: Fault, calls: list[CallRecord], wanted: list[str]) -> None:
    assert struck(line, calls) == wanted


def test_a_pattern_may_name_the_catalogue() -> None:
    line = Fault("timeout", (pattern("get_issue", "tracker"),))
    assert struck(line, [call(server="tracker_v2")], catalogues={"tracker_v2": "tracker"}) == ["timeout"]


def test_of_several_lines_the_first_that_fires_has_the_call_and_all_count_it() -> None:
    faults = Faults((Fault("timeout", GET, nth=2), Fault("garbage", (pattern("*"),), nth=2)))
    hits = [faults.strike(each, STDIO, 5.0) for each in (call("list_issues"), call(), call())]
    assert [hit.words if hit else "" for hit in hits] == ["", "garbage", "timeout"]
    assert faults.missed == () and faults.reached


def test_a_fault_that_was_not_reached_is_told() -> None:
    faults = Faults((Fault("timeout", GET, nth=2), Fault("garbage", GET, nth=1)))
    faults.strike(call(), STDIO, 5.0)
    assert [line.what for line in faults.missed] == ["timeout"] and faults.reached


def test_chance_is_the_seeds_and_near_what_was_asked_for() -> None:
    line = Fault("timeout", GET, probability=0.3)
    first = struck(line, [call()] * 1000, seed=7)
    assert first == struck(line, [call()] * 1000, seed=7)
    assert first != struck(line, [call()] * 1000, seed=8)
    assert 250 <= sum(word != "" for word in first) <= 350


def test_one_call_is_forced_by_each_hit_and_only_one_by_a_lasting_fault() -> None:
    def free(line: Fault) -> list[bool]:
        faults = Faults((line,))
        return [hit.free for _ in range(3) if (hit := faults.strike(call(), STDIO, 5.0)) is not None]

    assert free(Fault("timeout", GET)) == [True, False, False]
    assert free(Fault("timeout", GET, nth=2)) == [True]
    assert free(Fault("timeout", GET, probability=1.0)) == [True, True, True]
    assert free(Fault("slow", GET, seconds=1.0, nth=1)) == [False], "a late reply forces no call"


SHAPES = {
    "timeout": (Fault("timeout", GET), STDIO, "timeout", "timeout", None),
    "tool error": (Fault("error", GET, text=Literal("EIO: i/o error")), STDIO, "tool_error", "unknown", None),
    "as success": (
        Fault("error", GET, text=Literal("Error: no"), as_success=True),
        STDIO,
        "error_in_success",
        "unknown",
        None,
    ),
    "protocol error": (Fault("protocol_error", GET, code=-32602), STDIO, "protocol_error", "internal", -32602),
    "expired over HTTP": (Fault("expired_credential", GET), WEB, "transport_error", "denied", 401),
    "expired over stdio": (Fault("expired_credential", GET), STDIO, "tool_error", "expired", None),
    "429 over HTTP": (Fault("http", GET, code=429, seconds=2.0), WEB, "transport_error", "rate", 429),
    "429 over stdio": (Fault("http", GET, code=429, seconds=2.0), STDIO, "tool_error", "rate", None),
    "503 over HTTP": (Fault("http", GET, code=503), WEB, "transport_error", "internal", 503),
    "garbage": (Fault("garbage", GET), STDIO, "invalid_result", "unknown", None),
    "disconnect": (Fault("disconnect", GET), STDIO, "transport_error", "closed", None),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_fault_is_classed_as_the_real_thing_would_be(shape: tuple[Fault, Launch, str, str, int | None]) -> None:
    line, launch, error_class, kind, code = shape
    wire = injection_of(line, launch, 5.0, Scope({})).wire
    assert wire is not None
    error = classify(wire)
    assert error is not None
    assert (error.error_class, error.kind, error.code) == (error_class, kind, code)


def test_headers_are_those_of_http() -> None:
    expired = injection_of(Fault("expired_credential", GET), WEB, 5.0, Scope({})).wire
    limited = injection_of(Fault("http", GET, code=429, seconds=2.0), WEB, 5.0, Scope({})).wire
    plain = injection_of(Fault("http", GET, code=503), WEB, 5.0, Scope({})).wire
    assert expired is not None and limited is not None and plain is not None
    assert expired.headers == {"www-authenticate": EXPIRED}
    assert (limited.headers, plain.headers) == ({"retry-after": "2"}, {})


def test_the_text_of_an_error_may_come_from_a_harvest() -> None:
    line = Fault("error", GET, text=Ref(("row", "message")))
    wire = injection_of(line, STDIO, 5.0, Scope({"row": {"message": "locked by Ada"}})).wire
    assert wire is not None and wire.result is not None
    assert wire.result["content"][0]["text"] == "locked by Ada"


def test_a_slow_reply_is_the_servers_own_unless_it_is_too_late() -> None:
    late = injection_of(Fault("slow", GET, seconds=3.0), STDIO, 5.0, Scope({}))
    never = injection_of(Fault("slow", GET, seconds=9.0), STDIO, 5.0, Scope({}))
    assert (late.wire, late.delay) == (None, 3.0)
    assert never.wire is not None and (never.wire.ending, never.delay) == ("timeout", 5.0)


def through_web(line: Fault, calls: int) -> tuple[CallRecord, ...]:
    """Calls of an agent to a server behind a URL that answers each with status 503."""

    async def run(url: str) -> tuple[CallRecord, ...]:
        launch = Launch("web", url=url, call_timeout=5.0)
        pin = await probe(launch)
        rules = Rules(catalogues={"web": catalogue(("readonly", pattern("echo")), name="web")})
        gateway = Gateway([launch], {"web": pin}, rules, faults=Faults((line,)))
        try:
            await gateway.open()
            for _ in range(calls):
                await gateway.call("agent", "web", "echo", {})
        finally:
            await gateway.close()
        return gateway.calls

    with http_server("web.py", "503") as url:
        return asyncio.run(run(url))


def test_an_expired_credential_over_http_looks_like_the_real_thing_and_is_told_from_it() -> None:
    hit, real = through_web(Fault("expired_credential", (pattern("echo"),), nth=1), 2)
    assert hit.error is not None and real.error is not None
    assert (hit.error.code, hit.error.status, hit.error.kind) == (401, 401, "denied")
    assert hit.error.headers == {"www-authenticate": EXPIRED}
    assert "www-authenticate: Bearer error" in hit.error.message
    assert (hit.error.error_class, hit.error.cause) == ("injected", "fault")
    assert (real.error.error_class, real.error.cause, real.error.code) == ("transport_error", "server", 503)
    assert hit.text == real.text, "the agent cannot tell them apart"


def test_a_connection_over_http_that_was_cut_is_opened_again() -> None:
    hit, real = through_web(Fault("disconnect", (pattern("echo"),), nth=1), 2)
    assert hit.error is not None and real.error is not None
    assert (hit.error.kind, hit.error.cause, hit.session) == ("closed", "fault", 1)
    assert (real.session, real.error.cause, real.error.code) == (2, "server", 503)


def test_cuts_do_not_use_up_the_restart_of_a_server_that_dies() -> None:
    rules = Rules(catalogues={"tiny": catalogue(("readonly", pattern("echo")), name="tiny")})

    async def run() -> Gateway:
        launch = tiny("good")
        faults = Faults(tuple(Fault("disconnect", (pattern("echo"),), nth=nth) for nth in (1, 2, 3)))
        gateway = Gateway([launch], {"tiny": await probe(launch)}, rules, faults=faults)
        for _ in range(4):
            await gateway.call("agent", "tiny", "echo", {"text": "hi"})
        await gateway.close()
        return gateway

    gateway = asyncio.run(run())
    assert [record.error.cause if record.error else "" for record in gateway.calls] == ["fault", "fault", "fault", ""]
    assert gateway.calls[-1].text == "hi" and gateway.charged == 1
    assert not any(record.stop for record in gateway.calls)
