"""The one door: order of its steps, what is recorded, what the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.faults import Faults
from mcpeval_dsl.gateway.model import CallRecord, Launch, ServerStartError
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import Entry as Field
from mcpeval_dsl.semantics.expressions import Literal, ObjectOf
from tests.gateway.calls import catalogue, pattern
from tests.gateway.starting import tiny

READS = Rules(catalogues={"tiny": catalogue(("readonly", pattern("echo")), name="tiny")})


def through(
    use: Callable[[Gateway], Awaitable[Any]], mode: str = "good", launch: Launch | None = None, **settings: Any
) -> Gateway:
    """A gateway over the tiny server, opened, used and closed."""
    settings.setdefault("rules", READS)

    async def run() -> Gateway:
        where = launch or tiny(mode)
        pin = await probe(where)
        gateway = Gateway([where], {"tiny": pin}, **settings)
        try:
            await gateway.open()
            await use(gateway)
        finally:
            await gateway.close()
        return gateway

    return asyncio.run(run())


def only(
    mode: str = "good", tool: str = "echo", arguments: dict[str, Any] | None = None, **settings: Any
) -> CallRecord:
    """The record of one call of the agent."""
    gateway = through(lambda door: door.call("agent", "tiny", tool, arguments or {}), mode, **settings)
    (record,) = gateway.calls
    return record


def test_a_call_is_recorded_with_all_that_later_rooms_need() -> None:
    async def use(door: Gateway) -> None:
        record = await door.call("agent", "tiny", "echo", {"text": "hi"}, turn=2, wire_name="tiny__echo")
        assert record is door.calls[0]

    (record,) = through(use).calls
    assert (record.id, record.actor, record.turn, record.wire_name) == ("c1", "agent", 2, "tiny__echo")
    assert (record.text, record.is_error, record.error) == ("hi", False, None)
    assert (record.charged, record.schema_valid, record.session) == (True, True, 1)
    assert record.permission.effect == "readonly"
    assert record.content == ({"type": "text", "text": "hi"},)
    assert record.result_bytes > 50
    assert record.duration_ms > 0
    assert record.at.endswith("+00:00")


@pytest.mark.parametrize(
    ("mode", "error_class", "text", "is_error"),
    [
        ("tool_error", "tool_error", "there is no issue 7", True),
        ("error_in_success", "error_in_success", "Error: no such table: issues", False),
        ("rpc_error", "protocol_error", "The tool is unavailable.", True),
        ("output_schema", "invalid_result", "n is many", False),
        ("content_string", "invalid_result", "just text", False),
        ("no_result", "invalid_result", "The tool is unavailable.", True),
        ("die", "transport_error", "The tool is unavailable. The connection to its server was lost.", True),
    ],
)
def test_what_the_model_is_told_about_each_class(mode: str, error_class: str, text: str, is_error: bool) -> None:
    record = only(mode)
    assert record.error is not None
    assert (record.error.error_class, record.text, record.is_error) == (error_class, text, is_error)


def test_a_host_may_show_protocol_errors() -> None:
    assert only("rpc_error", show_protocol_errors=True).text == "MCP error -32602: Unknown tool: nope"


def test_meta_never_reaches_the_model_and_images_become_placeholders() -> None:
    record = only("image")
    assert record.text == "[image image/png, 30 bytes]"
    assert "_meta" not in str(record.content)


def test_invalid_arguments_are_recorded_and_sent_all_the_same() -> None:
    record = only(arguments={"text": 3})
    assert (record.schema_valid, record.error) == (False, None)
    assert record.schema_errors == ("/text: 3 is not of type 'string'",)


def test_a_lone_surrogate_in_an_argument_is_replaced() -> None:
    record = only(arguments={"text": "\ud800!"})
    assert (record.text, record.error) == ("\ufffd!", None)


def test_a_denied_call_reaches_no_server_and_is_not_charged() -> None:
    async def use(door: Gateway) -> None:
        await door.call("agent", "tiny", "wipe_all", {"text": "x"})

    gateway = through(use, "die")
    (record,) = gateway.calls
    assert record.error is not None
    assert (record.error.error_class, record.error.cause, record.charged) == ("denied", "policy", False)
    assert record.text == "Error: wipe_all is not permitted here"
    assert record.arguments == {"text": "x"}
    assert [(v.kind, v.severity, v.call) for v in gateway.violations] == [("destructive_call", "critical", "c1")]
    assert gateway.charged == 0


def test_the_hard_call_budget_stops_before_the_call() -> None:
    async def use(door: Gateway) -> None:
        await asyncio.gather(*(door.call("agent", "tiny", "echo", {}) for _ in range(3)))

    records = through(use, hard_calls=2).calls
    assert [record.stop for record in records] == [None, None, "hard_budget:calls"]
    assert [record.charged for record in records] == [True, True, False]


def test_only_the_agent_is_charged() -> None:
    async def use(door: Gateway) -> None:
        for actor in ("setup", "harvest", "grader"):
            await door.call(actor, "tiny", "echo", {})

    assert through(use, hard_calls=0).charged == 0


def test_a_dead_server_is_started_again_once(tmp_path: Path) -> None:
    async def use(door: Gateway) -> None:
        for _ in range(2):
            await door.call("agent", "tiny", "echo", {"text": "hi"})

    gateway = through(use, launch=tiny("die_once", cwd=str(tmp_path)))
    first, second = gateway.calls
    assert first.error is not None
    assert (first.error.error_class, first.error.code, first.session) == ("transport_error", 9, 1)
    assert (second.text, second.session, second.stop) == ("hi", 2, None)
    assert gateway.sessions == {"tiny": 2}


def test_a_server_that_dies_again_ends_the_agent() -> None:
    async def use(door: Gateway) -> None:
        for _ in range(3):
            await door.call("agent", "tiny", "echo", {})
        await door.end_sessions()
        assert (await door.call("grader", "tiny", "echo", {})).session == 3

    assert [record.stop for record in through(use, "die").calls] == [None, None, "server_dead", None]


def test_a_lost_write_has_an_unknown_effect() -> None:
    permitted = Rules(may=(pattern("echo"),))
    assert only("die", rules=permitted).effect_unknown
    assert not only("die").effect_unknown
    assert not only("tool_error", rules=permitted).effect_unknown


def test_a_call_cut_by_the_end_of_the_trial_is_in_the_record() -> None:
    async def use(door: Gateway) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await door.call("agent", "tiny", "echo", {})

    (record,) = through(use, "hang").calls
    assert record.error is not None
    assert (record.error.error_class, record.error.cause, record.charged) == ("timeout", "harness", True)
    assert record.duration_ms > 100


def test_secrets_are_replaced_in_the_record_and_for_the_model_but_not_for_the_author() -> None:
    redactor = Redactor({"TOKEN": "open sesame"})

    async def use(door: Gateway) -> None:
        mine = await door.call("setup", "tiny", "echo", {"text": "open sesame"})
        assert mine.text == "open sesame"

    gateway = through(use, redactor=redactor)
    assert gateway.calls[0].text == "[redacted: TOKEN]"
    assert gateway.calls[0].arguments == {"text": "[redacted: TOKEN]"}
    assert "call c1/arguments/text (TOKEN)" in gateway.redactions
    assert len(gateway.redactions) == len(set(gateway.redactions))


def test_secrets_on_standard_error_are_replaced_too() -> None:
    gateway = through(lambda door: door.call("agent", "tiny", "echo", {}), "die", redactor=Redactor({"T": "on fire"}))
    assert gateway.ends["tiny"].stderr_tail == "fatal: the disk is [redacted: T]\n"
    assert gateway.calls[0].error is not None
    assert "on fire" not in gateway.calls[0].error.message


def test_a_secret_in_an_agents_argument_does_not_leave() -> None:
    async def use(door: Gateway) -> None:
        await door.call("agent", "tiny", "echo", {"text": "b3BlbiBzZXNhbWU="})

    gateway = through(use, redactor=Redactor({"TOKEN": "open sesame"}))
    assert [(v.kind, v.severity) for v in gateway.violations] == [("secret_in_argument", "critical")]
    assert gateway.calls[0].error is not None
    assert gateway.calls[0].error.error_class == "denied"


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        (Literal("wiped"), "wiped", None),
        (ObjectOf((Field("rows", Literal(3)),)), '{"rows":3}', {"rows": 3}),
    ],
)
def test_a_simulated_answer_stands_for_the_servers(value: Any, text: str, structured: Any) -> None:
    record = only("die", "wipe_all", rules=Rules(simulate=((pattern("wipe_all"), value),)))
    assert (record.text, record.structured, record.permission.decision) == (text, structured, "simulated")
    assert record.error is None


def test_policy_simulate_gives_a_stub_of_the_output_schema() -> None:
    record = only("output_schema", rules=Rules(policy="simulate"))
    assert record.structured == {"n": 0}


def test_a_changed_tool_is_not_used() -> None:
    async def use(door: Gateway) -> None:
        await door.call("agent", "tiny", "echo", {})
        await door.call("agent", "tiny", "echo", {})

    gateway = through(use, "drift")
    first, second = gateway.calls
    assert gateway.findings == (
        "server tiny differs from what was pinned in tools, descriptions: gone: wipe_all; changed: echo",
    )
    assert (first.stop, second.stop) == (None, "drift")
    assert not second.charged


def test_a_change_that_the_spec_allows_is_no_drift() -> None:
    async def use(door: Gateway) -> None:
        await door.call("agent", "tiny", "echo", {})
        await door.call("agent", "tiny", "echo", {"text": "again"})

    gateway = through(use, "drift", allow_drift={"tiny": ("descriptions", "tools")})
    assert gateway.calls[1].stop is None
    assert (gateway.drift, gateway.findings) == ({}, ())


def test_an_injected_fault_is_ours_and_not_the_servers() -> None:
    record = only("die", faults=Faults((Fault("protocol_error", (pattern("echo"),), code=-32000),)))
    assert record.error is not None
    assert (record.error.error_class, record.error.cause) == ("injected", "fault")


def test_private_servers_and_broken_tools_are_not_shown() -> None:
    async def nothing(door: Gateway) -> None:
        return None

    assert through(nothing, private=frozenset({"tiny"})).tools() == ()
    assert len(through(nothing, "broken_tool").tools()) == 34


def test_an_agent_cannot_call_a_private_server() -> None:
    record = only(private=frozenset({"tiny"}))
    assert record.error is not None
    assert record.error.kind == "not_found"


def test_a_huge_result_keeps_head_and_tail() -> None:
    record = only("huge")
    assert record.truncated
    assert record.result_bytes > 16_000_000
    assert 4_000_000 < len(record.text) < 4_300_000
    assert "all but its ends left out" in record.text
    assert len(record.result_sha256) == 64


def test_a_resource_is_read_through_the_door() -> None:
    async def use(door: Gateway) -> None:
        assert (await door.read_resource("grader", "tiny", "tiny://one")).text == "resource text"

    (record,) = through(use).calls
    assert (record.tool, record.charged) == ("resources/read", False)


def test_a_server_that_does_not_open_is_an_error_of_opening_only() -> None:
    async def nothing(door: Gateway) -> None:
        return None

    with pytest.raises(ServerStartError):
        through(nothing, "exit_at_start")


ASKING = Rules(catalogues={"tiny": catalogue(("readonly", pattern("echo")), ("confirm", pattern("echo")), name="tiny")})


@pytest.mark.parametrize("mode", ["elicit", "asks"], ids=["the server sends a question", "the answer asks for input"])
@pytest.mark.parametrize("action", ["accept", "decline"])
def test_a_person_is_asked_in_both_eras(mode: str, action: str) -> None:
    gateway = through(
        lambda door: door.call("agent", "tiny", "echo", {}),
        mode,
        rules=ASKING,
        elicit=lambda params: {"action": action},
    )
    (record,) = gateway.calls
    assert (record.error, record.elicited) == (None, (action,)) and action in record.text
    assert gateway.violations == []


def test_a_call_in_whose_course_nobody_was_asked_skipped_confirmation() -> None:
    async def use(door: Gateway) -> None:
        await door.call("agent", "tiny", "echo", {})
        await door.call("agent", "tiny", "wipe_all", {})

    gateway = through(use, rules=ASKING)
    assert [(one.kind, one.call) for one in gateway.violations] == [
        ("confirmation_skipped", "c1"),
        ("destructive_call", "c2"),
    ]
