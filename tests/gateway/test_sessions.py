"""One session with servers that behave and that do not: how each call ends, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from pathlib import Path

import psutil
import pytest

from mcpeval_dsl.gateway.direct import FIRST_ID
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.session import Session, open_session
from mcpeval_dsl.gateway.wire import WireResult
from tests.gateway.starting import ENVIRONMENT, one_call, tiny, with_session


def test_a_good_call_ends_with_the_result_of_the_wire() -> None:
    wire = one_call("good")
    assert wire.ending == "result"
    assert wire.result == {"content": [{"type": "text", "text": "hi"}], "isError": False}
    assert wire.size > 50


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("utf8", "a\N{REPLACEMENT CHARACTER}b"),
        ("noise", "after noise"),
        ("flood", "after the flood"),
        ("elicit", '{"action": "decline"}'),
        ("asks", "decline half way"),
    ],
)
def test_a_disturbed_wire_still_gives_the_result(mode: str, text: str) -> None:
    wire = one_call(mode)
    assert wire.result is not None
    assert wire.result["content"][0]["text"] == text


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("deep", "nested too deeply"),
        ("no_result", "no JSON-RPC response"),
    ],
)
def test_a_broken_answer_ends_its_call_at_once(mode: str, words: str) -> None:
    wire = one_call(mode, call_timeout=600.0)
    assert wire.ending == "malformed"
    assert words in wire.message


def test_a_server_that_never_has_enough_input_is_stopped() -> None:
    wire = one_call("asks_forever")
    assert (wire.ending, wire.message) == ("malformed", "the server still asked for input after 10 rounds")


def test_a_result_above_the_limit_is_cut_to_its_ends_and_the_session_goes_on() -> None:
    async def use(session: Session) -> tuple[WireResult, bool]:
        return await session.call("echo", {}), session.alive

    wire, alive = with_session(tiny("over_limit", max_message_bytes=100_000), use)
    assert alive and wire.cut
    assert (wire.ending, wire.size) == ("result", len(wire_line(300_000)))
    assert wire.sha256 == hashlib.sha256(wire_line(300_000)).hexdigest()
    assert wire.result is not None
    text = wire.result["content"][0]["text"]
    assert text.startswith("xxx") and text.endswith("xxx") and f"{wire.size} bytes" in text
    assert 95_000 < len(text) < 101_000


def wire_line(size: int) -> bytes:
    """What the tiny server writes for `size` letters to the first call of a session."""
    result = {"content": [{"type": "text", "text": "x" * size}], "isError": False}
    return json.dumps({"jsonrpc": "2.0", "id": FIRST_ID, "result": result}).encode()


def test_sixteen_megabytes_come_through_without_holding_up_the_loop() -> None:
    async def use(session: Session) -> tuple[int, int, float]:
        worst, running = 0.0, True

        async def watch() -> None:
            nonlocal worst
            while running:
                begun = time.thread_time()
                await asyncio.sleep(0.01)
                worst = max(worst, time.thread_time() - begun)

        watcher = asyncio.create_task(watch())
        wire = await session.call("echo", {})
        running = False
        await watcher
        assert wire.result is not None
        return wire.size, len(wire.result["content"][0]["text"]), worst

    size, kept, worst = with_session(tiny("huge"), use)
    assert size > 16 * 1024 * 1024
    assert 4_000_000 < kept < 4 * 1024 * 1024
    assert worst < 0.5, "seconds of CPU between two looks"


def test_a_dying_server_tells_its_exit_code_and_last_words_at_once() -> None:
    wire = one_call("die", call_timeout=600.0)
    assert (wire.ending, wire.exit_code) == ("dead", 7)
    assert "the disk is on fire" in wire.stderr_tail


@pytest.mark.parametrize("mode", ["half_line", "closed_stdout"])
def test_a_server_that_falls_silent_for_good_is_dead(mode: str) -> None:
    assert one_call(mode).ending == "dead"


def test_a_hanging_call_times_out_and_is_cancelled() -> None:
    wire = one_call("hang", call_timeout=0.3)
    assert (wire.ending, wire.cancelled) == ("timeout", True)


def test_progress_renews_the_timeout() -> None:
    wire = one_call("progress", call_timeout=1.5)
    assert wire.ending == "result"
    assert wire.duration_ms > 1500


def test_an_answer_for_nobody_leaves_the_call_waiting() -> None:
    assert one_call("wrong_id", call_timeout=0.3).ending == "timeout"


def test_the_server_sees_exactly_its_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "the operator's")
    wire = one_call("env", env=ENVIRONMENT | {"TINY": "1"})
    assert wire.result is not None
    seen = json.loads(wire.result["content"][0]["text"])
    assert seen.keys() - {"LC_CTYPE"} == {"PATH", "TINY"}


def test_calls_side_by_side_get_their_own_answers() -> None:
    async def use(session: Session) -> list[str]:
        wires = await asyncio.gather(*(session.call("echo", {"text": str(n)}) for n in range(20)))
        return [wire.result["content"][0]["text"] for wire in wires if wire.result is not None]

    assert with_session(tiny(), use) == [str(n) for n in range(20)]


def test_a_cancelled_call_leaves_the_session_usable() -> None:
    async def use(session: Session) -> bool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await session.call("echo", {})
        return session.alive

    assert with_session(tiny("hang"), use)


def test_a_resource_is_read() -> None:
    wire = with_session(tiny(), lambda session: session.read_resource("tiny://one"))
    assert wire.result is not None
    assert wire.result["contents"][0]["text"] == "resource text"


def test_the_frames_of_a_session_are_kept() -> None:
    async def use(session: Session) -> list[object]:
        await session.call("echo", {})
        return [frame.message.get("method") for frame in session.frames if frame.message and frame.direction == "sent"]

    assert with_session(tiny(), use) == ["initialize", "notifications/initialized", "tools/list", "tools/call"]


@pytest.mark.parametrize("mode", ["orphan", "orphan_session", "ignores_end", "good"])
def test_no_process_is_left_after_the_session(mode: str) -> None:
    async def use(session: Session) -> list[psutil.Process]:
        await session.call("echo", {})
        leader = psutil.Process(session.info.pid)
        return [leader, *leader.children(recursive=True)]

    processes = with_session(tiny(mode), use)
    assert len(processes) == (2 if mode.startswith("orphan") else 1)
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_a_session_cancelled_while_opening_leaves_no_process(tmp_path: Path) -> None:
    async def run() -> list[psutil.Process]:
        launch = tiny("silent", cwd=str(tmp_path))
        before = psutil.Process().children(recursive=True)
        opening = asyncio.create_task(open_session(launch))
        processes: list[psutil.Process] = []
        for _ in range(100):
            await asyncio.sleep(0.05)
            processes = [child for child in psutil.Process().children(recursive=True) if child not in before]
            if processes:
                break
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        return processes

    processes = asyncio.run(run())
    assert processes
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert alive == []


def test_a_changed_catalogue_is_noticed_before_the_next_call() -> None:
    async def use(session: Session) -> tuple[object, object]:
        await session.call("echo", {})
        return await session.refresh(), session.drift

    drift, kept = with_session(tiny("drift"), use)
    assert drift is kept
    assert drift is not None


def test_a_session_that_differs_from_its_pin_says_how() -> None:
    async def run() -> tuple[str, ...]:
        pin = await probe(tiny("good"))
        session = await open_session(tiny("paged"), pin)
        await session.close()
        assert session.drift is not None
        return session.drift.kinds

    assert asyncio.run(run()) == ("tools",)
