"""Servers that break the wire on purpose: the call that was broken fails at once, others and later ones do not notice."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from mcpeval_dsl.gateway import doubts, wire
from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import CallRecord, Launch
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.values.limits import Limits
from tests.gateway.starting import ENVIRONMENT, SERVERS, http_server

AT_ONCE_MS = 60_000  # of a call timeout of 600 s, on a busy machine
MEGABYTE = 1024 * 1024


def launched(mode: str, **more: Any) -> Launch:
    settings = {"env": ENVIRONMENT, "call_timeout": 600.0, "start_timeout": 60.0} | more
    return Launch("tiny", (sys.executable, "-S", str(SERVERS / "hostile.py"), mode), **settings)


def called(launch: Launch) -> tuple[CallRecord, CallRecord]:
    """The records of the broken call and of one after it."""

    async def run() -> tuple[CallRecord, CallRecord]:
        gateway = Gateway([launch], {"tiny": await probe(launch)}, Rules(policy="execute"))
        try:
            await gateway.open()
            bad = await gateway.call("agent", "tiny", "bad", {})
            return bad, await gateway.call("agent", "tiny", "good", {})
        finally:
            await gateway.close()

    return asyncio.run(run())


def outcome(record: CallRecord) -> tuple[str, str]:
    return ("", record.text) if record.error is None else (record.error.error_class, record.error.kind)


BROKEN = [
    ("deep", "nested too deeply"),
    ("deep_200", "nested more than 100 levels"),
    ("digits", "Exceeds the limit"),
    ("nan", "NaN is no JSON value"),
    ("infinite", "too large"),
    ("no_result", "no JSON-RPC response"),
    ("large_error", "above the limit"),
]
"""What a message with the right id may hold, over pipes and HTTP alike."""


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        *BROKEN,
        ("broken", "not JSON"),
        ("binary", "not JSON"),
        ("wrong_id", "an answer with the id"),
        ("float_id", "no JSON-RPC response"),
        ("list", "no object"),
        ("endless_text", "10000 lines that are no messages"),
    ],
)
def test_a_broken_answer_fails_its_call_at_once_and_no_other(mode: str, words: str) -> None:
    bad, good = called(launched(mode))
    assert bad.error is not None
    assert (bad.error.error_class, bad.error.kind) == ("invalid_result", "unknown")
    assert words in bad.error.message
    assert bad.duration_ms < AT_ONCE_MS
    assert (good.text, good.session) == ("good", 1)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("digits_4000", ("", '{"n":' + "9" * 4_000 + "}")),
        ("surrogate", ("", "a\N{REPLACEMENT CHARACTER}b")),
        ("utf8", ("", "a\N{REPLACEMENT CHARACTER}b")),
        ("text_id", ("", "with the id as text")),
        ("twice", ("", "first")),
        ("text_first", ("", "after all")),
        ("broken_first", ("", "after all")),
        ("flood", ("", "after the flood")),
        ("stderr", ("", "after the words")),
        ("no_id", ("protocol_error", "internal")),
        ("null_id", ("protocol_error", "internal")),
        ("half_line", ("transport_error", "crash")),
        ("exit", ("transport_error", "crash")),
    ],
)
def test_what_can_still_be_understood_is(mode: str, expected: tuple[str, str]) -> None:
    bad, good = called(launched(mode))
    assert outcome(bad) == expected
    assert bad.duration_ms < AT_ONCE_MS
    assert good.text == "good"
    assert good.session == (2 if expected[1] == "crash" else 1)


def test_a_server_that_only_prints_text_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "CHATTER_SECONDS", 0.3)
    bad, good = called(launched("text"))
    assert bad.error is not None
    assert bad.error.message == "2 lines that are no messages, then nothing for 0.3 s"
    assert good.text == "good"


def at_once(mode: str, *calls: tuple[str, float]) -> list[tuple[tuple[str, str], bool]]:
    """Outcomes of calls made side by side (tool and the seconds it takes), and whether each came soon."""

    async def run() -> list[CallRecord]:
        launch = launched(mode)
        gateway = Gateway([launch], {"tiny": await probe(launch)}, Rules(policy="execute"))
        try:
            await gateway.open()
            made = (gateway.call("agent", "tiny", tool, {"seconds": seconds}) for tool, seconds in calls)
            return await asyncio.gather(*made)
        finally:
            await gateway.close()

    return [(outcome(record), record.duration_ms < AT_ONCE_MS) for record in asyncio.run(run())]


INVALID, GOOD = (("invalid_result", "unknown"), True), (("", "good"), True)


@pytest.mark.parametrize("mode", ["broken", "binary", "wrong_id"])
def test_a_broken_answer_fails_its_call_once_the_others_have_theirs(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "CHOICE_SECONDS", 0.6)
    assert at_once(mode, ("bad", 0.0), ("good", 1.0)) == [INVALID, GOOD]


@pytest.mark.parametrize("calls", [[("bad", 0.0)], [("bad", 0.0), ("good", 1.5)]], ids=["alone", "beside another"])
def test_a_log_in_json_is_no_answer(calls: list[tuple[str, float]]) -> None:
    assert at_once("json_log", *calls) == [(("", "after all"), True), GOOD][: len(calls)]


@pytest.mark.parametrize("mode", ["broken", "binary", "wrong_id"])
def test_as_many_broken_answers_as_calls_fail_them_all(mode: str) -> None:
    assert at_once(mode, *[("bad", 0.0)] * 3) == [INVALID] * 3


def test_one_broken_line_does_not_fail_two_calls_that_are_answered() -> None:
    found = at_once("broken_first", ("good", 1.5), ("bad", 0.0), ("good", 1.0))
    assert found == [GOOD, (("", "after all"), True), GOOD]


def test_text_instead_of_answers_fails_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "CHATTER_SECONDS", 0.3)
    assert at_once("text", ("bad", 0.0), ("bad", 0.0)) == [INVALID] * 2


def test_text_of_a_server_that_answers_fails_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "CHATTER_SECONDS", 0.5)
    assert at_once("text_first", ("bad", 0.0), ("good", 1.5)) == [(("", "after all"), True), GOOD]


@pytest.mark.parametrize("events", [(), ("events",)], ids=["json", "events"])
@pytest.mark.parametrize(("mode", "words"), BROKEN)
def test_a_broken_body_over_http_fails_its_call_at_once(mode: str, words: str, events: tuple[str, ...]) -> None:
    with http_server("hostile.py", mode, after=events) as url:
        bad, good = called(Launch("tiny", url=url, call_timeout=600))
    assert bad.error is not None
    assert bad.error.error_class == "invalid_result"
    assert words in bad.error.message or bad.error.message == "an answer that is no JSON-RPC message"
    assert bad.duration_ms < AT_ONCE_MS
    assert good.text == "good"


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("surrogate", "a\N{REPLACEMENT CHARACTER}b"),
        ("utf8", "a\N{REPLACEMENT CHARACTER}b"),
        ("text_id", "with the id as text"),
    ],
)
def test_what_can_be_understood_over_http_is(mode: str, text: str) -> None:
    with http_server("hostile.py", mode) as url:
        assert called(Launch("tiny", url=url, call_timeout=600))[0].text == text


@pytest.mark.parametrize("way", ["stdio", "json", "events"])
def test_a_result_of_100_megabytes_keeps_its_ends_and_hash(way: str) -> None:
    if way == "stdio":
        bad, good = called(launched("large"))
    else:
        with http_server("hostile.py", "large", after=("events",) if way == "events" else ()) as url:
            bad, good = called(Launch("tiny", url=url, call_timeout=600))
    assert bad.error is None
    assert bad.truncated and not bad.is_error
    assert bad.result_bytes > 100 * MEGABYTE
    assert len(bad.result_sha256) == 64
    assert bad.text.startswith("the beginning éxxx") and bad.text.endswith("xxx\n the end")
    assert 4_000_000 < len(bad.text) <= 4 * MEGABYTE
    assert good.text == "good"


@pytest.mark.parametrize(
    ("mode", "starts", "ends"),
    [
        ("large_list", '{"structuredContent":{"rows":[{"n":1},', '],"last":"row"}}}'),
        ("large_image", "[image in a message of", "left out]"),
    ],
)
def test_other_large_results_show_what_is_known_of_them(mode: str, starts: str, ends: str) -> None:
    bad, _ = called(launched(mode))
    assert bad.error is None and bad.truncated
    assert bad.text.startswith(starts) and bad.text.endswith(ends)


@pytest.mark.parametrize(
    ("mode", "limits", "words"),
    [
        ("memory", Limits(memory=512 * MEGABYTE), "at the limit of 512 MiB of memory"),
        ("file", Limits(file=16 * MEGABYTE), "at the limit of 16 MiB for one file"),
    ],
)
def test_a_server_that_took_too_much_is_told_from_one_that_crashed(
    mode: str, limits: Limits, words: str, tmp_path: Any
) -> None:
    bad, good = called(launched(mode, limits=limits, cwd=str(tmp_path)))
    assert outcome(bad) == ("transport_error", "resource_limit")
    assert bad.error is not None and words in bad.error.message
    assert bad.died
    assert good.text == "good"


def test_a_server_runs_within_the_limits_of_its_launch() -> None:
    limits = Limits(memory=2**30, addresses=2**40, file=2**28, open_files=256)
    bad, _ = called(launched("limits", limits=limits))
    assert json.loads(bad.text) == {
        "DATA": [2**30] * 2,
        "AS": [2**40] * 2,
        "FSIZE": [2**28] * 2,
        "NOFILE": [256] * 2,
        "CORE": [0, 0],
    }
