"""`mcpe gateway` as the server of a foreign host: the same door as in process, and nothing lost, hidden or left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError

from mcpeval_dsl.cli.main import main
from mcpeval_dsl.gateway.control import BadControl, Control, read_control, write_control
from mcpeval_dsl.gateway.decoys import Decoys
from mcpeval_dsl.gateway.distractors import catalogue_tools, shipped
from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.faults import Faults
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import CallPattern
from mcpeval_dsl.semantics.model import Never
from tests.gateway.hosts import COMMAND, ERAS, as_host, door, wait_for


@pytest.mark.parametrize("era", ERAS)
def test_a_host_of_either_era_sees_the_servers_tools_by_its_own_names(
    tmp_path: Path, era: Literal["auto", "legacy"]
) -> None:
    async def use(client: Client) -> tuple[Any, Any, Any]:
        result = await client.call_tool("mcp__tiny__echo", {"text": "hi"})
        return (await client.list_tools()).tools, result, client.instructions

    with door(tmp_path, names={"echo": "mcp__tiny__echo"}, instructions="Be kind.") as trial:
        tools, result, instructions = as_host(trial.words, use, era)
        assert wait_for(lambda: not trial.relays(), 8)
    assert [tool.name for tool in tools] == ["mcp__tiny__echo"]
    assert instructions == "Be kind."
    assert result.content[0].text == "hi" and not result.is_error
    (call,) = trial.calls
    assert (call.server, call.tool, call.wire_name, call.text) == ("tiny", "echo", "mcp__tiny__echo", "hi")
    assert call.charged and call.permission.decision == "allowed" and call.actor == "agent"
    assert trial.proxy.hosts[0]["revision"] == ("2026-07-28" if era == "auto" else "2025-11-25")
    assert trial.gone()


def test_what_is_not_permitted_never_reaches_the_server(tmp_path: Path) -> None:
    may = (CallPattern("echo", "tiny"),)
    rules = Rules(may=may, never=(Never(CallPattern("wipe_all", "tiny"), "critical"),))

    async def use(client: Client) -> list[Any]:
        names = ("echo", "wipe_all", "no_such_tool")
        return [await client.call_tool(name, {"text": "hi"}) for name in names]

    with door(tmp_path, rules=rules) as trial:
        results = as_host(trial.words, use)
    assert [result.is_error for result in results] == [False, True, True]
    assert [call.permission.decision for call in trial.calls] == ["allowed", "denied", "denied"]
    violations = [(each.kind, each.severity, each.call) for each in trial.gateway.violations]
    assert violations == [("never", "critical", "c2")]
    assert trial.gateway.charged == 1


def test_a_host_that_starts_its_server_anew_has_no_new_budget(tmp_path: Path) -> None:
    async def one(client: Client) -> Any:
        return await client.call_tool("echo", {})

    with door(tmp_path, hard_calls=2) as trial:
        results = [as_host(trial.words, one) for _ in range(3)]
    assert [result.is_error for result in results] == [False, False, True]
    assert [call.id for call in trial.calls] == ["c1", "c2", "c3"]
    assert trial.calls[-1].stop == "hard_budget:calls"


def test_a_fault_is_met_once_by_all_the_processes_of_a_trial(tmp_path: Path) -> None:
    async def one(client: Client) -> Any:
        return await client.call_tool("echo", {"text": "hi"})

    faults = Faults((Fault("timeout", (CallPattern("echo"),), nth=2),), 7)
    with door(tmp_path, faults=faults) as trial:
        results = [as_host(trial.words, one) for _ in range(3)]
    assert [result.is_error for result in results] == [False, True, False]
    assert [call.fault for call in trial.calls] == ["", "timeout", ""]


@pytest.mark.parametrize("era", ERAS)
def test_distractors_are_shown_and_answered_to_a_host(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    def ready(gateway: Gateway) -> None:
        gateway.decoys = Decoys(catalogue_tools(shipped("kubernetes"), "kubernetes"), 7)

    async def use(client: Client) -> Any:
        listed = await client.list_tools()
        return {tool.name for tool in listed.tools}, await client.call_tool("list_pods", {"namespace": "prod"})

    with door(tmp_path, ready=ready) as trial:
        names, answer = as_host(trial.words, use, era)
    assert {"echo", "list_pods", "drain_node"} <= names
    assert not answer.is_error and "pods" in answer.structured_content
    (call,) = trial.calls
    assert (call.server, call.distractor, call.charged) == ("kubernetes", True, True)


def test_correlation_ids_go_through_and_into_the_record(tmp_path: Path) -> None:
    meta = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "host.example/call": "toolu_7"}

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {}, meta=meta)  # type: ignore[arg-type]  # an open map

    with door(tmp_path, "meta") as trial:
        result = as_host(trial.words, use)
    assert json.loads(result.content[0].text) == meta
    assert trial.calls[0].meta == meta


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_told_to_the_host(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {}, progress_callback=hear)

    with door(tmp_path, "progress") as trial:
        result = as_host(trial.words, use, era)
    assert result.content[0].text == "slow but sure"
    assert heard == [float(step) for step in range(8)]


def test_content_that_is_no_text_goes_through_as_it_is(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {})

    with door(tmp_path, "image") as trial:
        result = as_host(trial.words, use)
    assert result.content[0].type == "image" and result.content[0].data == "QUJD" * 10


def test_of_a_large_image_a_host_is_told_the_size(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {})

    with door(tmp_path, "large_image") as trial:
        result = as_host(trial.words, use)
    assert [block.text for block in result.content] == ["drawn", "[image image/png, 90000 bytes]"]


@pytest.mark.parametrize("shown", [True, False])
def test_protocol_errors_as_the_profile_says(tmp_path: Path, shown: bool) -> None:
    async def use(client: Client) -> Any:
        try:
            return await client.call_tool("echo", {})
        except MCPError as error:
            return error

    with door(tmp_path, "rpc_error", show_protocol_errors=shown) as trial:
        result = as_host(trial.words, use)
    error = trial.calls[0].error
    assert error is not None and error.error_class == "protocol_error"
    if shown:
        assert isinstance(result, MCPError) and result.error.code == -32602
    else:
        assert result.is_error and "unavailable" in result.content[0].text


def test_a_secret_is_in_no_record_and_the_control_file_is_its_owners(tmp_path: Path) -> None:
    secret = "s3cr3t-0f-the-tracker"

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {"text": secret}, meta={"host.example/id": secret})  # type: ignore[arg-type]

    with door(tmp_path, redactor=Redactor({"TRACKER_TOKEN": secret})) as trial:
        assert trial.control.stat().st_mode & 0o777 == 0o600
        assert secret not in trial.control.read_text()
        assert as_host(trial.words, use).is_error
    assert secret not in repr(trial.calls)
    assert [each.kind for each in trial.gateway.violations] == ["secret_in_argument"]


@pytest.mark.parametrize("era", ERAS)
def test_calls_made_at_once_are_of_one_turn_and_later_ones_of_the_next(
    tmp_path: Path, era: Literal["auto", "legacy"]
) -> None:
    async def use(client: Client) -> None:
        await client.call_tool("echo", {"text": "first"})
        await asyncio.gather(*(client.call_tool("echo", {"text": str(number)}) for number in range(3)))
        await client.call_tool("echo", {"text": "last"})

    with door(tmp_path) as trial:
        as_host(trial.words, use, era)
    turns = [call.turn for call in trial.calls]
    assert turns[0] == 1 and turns[1] == 2 and turns[-1] == max(turn or 0 for turn in turns)
    assert turns == sorted(turn or 0 for turn in turns)


def conversation(tool: str = "echo") -> bytes:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def started(words: list[str], **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def test_standard_output_is_protocol_only(tmp_path: Path) -> None:
    with door(tmp_path, "noise") as trial:
        host = started(trial.words)
        assert host.stdin is not None and host.stdout is not None
        host.stdin.write(b"this is no protocol\n" + conversation())
        host.stdin.flush()
        lines = [json.loads(host.stdout.readline()) for _ in range(2)]
        rest, errors = host.communicate(timeout=60)
    assert rest == b"" and errors == b"" and host.returncode == 0
    assert {line["id"] for line in lines} == {1, 2} and all(line["jsonrpc"] == "2.0" for line in lines)
    assert trial.gone()


def test_a_call_under_way_when_the_host_leaves_is_recorded(tmp_path: Path) -> None:
    with door(tmp_path, "hang") as trial:
        host = started(trial.words)
        assert host.stdin is not None
        host.stdin.write(conversation())
        host.stdin.flush()
        assert wait_for(lambda: trial.calls and trial.calls[0].charged)
        host.communicate(timeout=60)
        assert wait_for(lambda: trial.calls[0].error is not None)
        (call,) = trial.calls
    assert call.effect_unknown and call.error is not None and call.error.cause == "harness"
    assert trial.gone()


@pytest.mark.parametrize("victim", ["host", "relay"])
def test_a_killed_host_or_relay_loses_no_record_and_leaves_nothing(tmp_path: Path, victim: str) -> None:
    script = "import subprocess,sys,time; p=subprocess.Popen(sys.argv[1:],stdin=0,stdout=1); time.sleep(60)"
    with door(tmp_path, "hang_second") as trial:
        host = started([sys.executable, "-S", "-c", script, *trial.words], start_new_session=True)
        assert host.stdin is not None and host.stdout is not None
        try:
            host.stdin.write(conversation())
            host.stdin.flush()
            for _ in range(2):
                host.stdout.readline()
            host.stdin.write(conversation().splitlines(keepends=True)[2].replace(b'"id": 2', b'"id": 3'))
            host.stdin.flush()
            assert wait_for(lambda: len(trial.calls) == 2 and trial.calls[1].charged)
            (relay,) = [pid for pid in trial.relays() if pid != host.pid]
            # With the host its end of the pipe stays open in this process, as in a host's other children.
            os.kill(host.pid if victim == "host" else relay, signal.SIGKILL)
            assert wait_for(lambda: trial.calls[1].error is not None, 8)
            assert wait_for(lambda: relay not in trial.relays(), 8)
        finally:
            host.kill()
            host.communicate()

        async def again(client: Client) -> Any:
            return (await client.list_tools()).tools

        assert as_host(trial.words, again)
        assert trial.calls[0].text == "ok" and len(trial.calls) == 2
        assert trial.calls[1].effect_unknown
    assert trial.gone()


def test_killed_at_any_moment_every_answered_call_is_on_record(tmp_path: Path) -> None:
    with door(tmp_path) as trial:
        answered = 0
        for round_ in range(6):
            host = started(trial.words)
            assert host.stdin is not None and host.stdout is not None
            host.stdin.write(b"".join(conversation().splitlines(keepends=True)[:2]))
            host.stdin.flush()
            host.stdout.readline()
            until = time.monotonic() + 0.05 + 0.03 * round_
            number = 1
            while time.monotonic() < until:
                number += 1
                call = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
                call["params"] = {"name": "echo", "arguments": {"text": f"{round_}.{number}"}}
                host.stdin.write(json.dumps(call).encode() + b"\n")
                host.stdin.flush()
                if number % 3:
                    continue
                host.stdout.readline()
            host.kill()
            rest, _ = host.communicate()
            answered += number // 3 + rest.count(b"\n")
        assert wait_for(lambda: all(call.error is not None or call.text for call in trial.calls))
        good = [call for call in trial.calls if call.error is None]
        assert answered <= len(good)
        assert len({call.arguments["text"] for call in good}) == len(good)
    assert trial.gone()


def test_told_to_end_it_ends_and_the_call_under_way_is_recorded(tmp_path: Path) -> None:
    with door(tmp_path, "hang") as trial:
        relay = started(trial.words)
        assert relay.stdin is not None
        relay.stdin.write(conversation())
        relay.stdin.flush()
        assert wait_for(lambda: trial.calls and trial.calls[0].charged)
        relay.terminate()
        assert relay.wait(timeout=60) == 0
        assert wait_for(lambda: trial.calls[0].error is not None)
        relay.communicate()
    assert trial.gone()


def test_it_ends_with_the_trial(tmp_path: Path) -> None:
    with door(tmp_path, "hang") as trial:
        relay = started(trial.words)
        assert relay.stdin is not None
        relay.stdin.write(conversation())
        relay.stdin.flush()
        assert wait_for(lambda: trial.calls and trial.calls[0].charged)
    assert relay.wait(timeout=60) == 0
    relay.communicate()
    assert trial.calls[0].error is not None and trial.gone()


BROKEN = {
    "absent": None,
    "no JSON": "{",
    "another format": '{"format": "mcpe-plan/1"}',
    "incomplete": '{"format": "mcpe-gateway/2"}',
    "a list": "[]",
    "no text": '{"format": "mcpe-gateway/2", "socket": 1, "token": "t"}',
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_is_no_control_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    text, path = BROKEN[case], tmp_path / "control.json"
    if text is not None:
        path.write_text(text)
        with pytest.raises(BadControl):
            read_control(path)
    assert main(["gateway", "--config", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "control.json" in err and "Traceback" not in err


def test_a_run_that_is_over_is_said(tmp_path: Path) -> None:
    write_control(tmp_path / "control.json", Control(str(tmp_path / "door"), "t", "task@cell#1"))
    words = [*COMMAND, str(tmp_path / "control.json")]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error: the run of the trial task@cell#1 no longer listens (No such file or directory)\n"


def test_the_control_file_says_the_same_when_it_is_read_and_is_written_once(tmp_path: Path) -> None:
    given = Control("/run/door", "word", "task@cell#1")
    write_control(tmp_path / "control.json", given)
    assert read_control(tmp_path / "control.json") == given
    with pytest.raises(FileExistsError):
        write_control(tmp_path / "control.json", given)


@pytest.mark.parametrize("said", [b'{"token": "no"}\n', b"\n", b"[]\n", b'{"token": 1}\n' + b"x" * 100_000])
def test_who_does_not_know_the_token_hears_nothing(tmp_path: Path, said: bytes) -> None:
    with door(tmp_path) as trial, socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(10)
        stranger.connect(read_control(trial.control).socket)
        stranger.sendall(said + conversation())
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(100) == b""
    assert trial.calls == ()


def test_over_http_only_who_knows_the_token_is_served(tmp_path: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with door(tmp_path) as trial:
        relay = started([*trial.words, "--http", "0"])
        assert relay.stdout is not None
        try:
            place = json.loads(relay.stdout.readline())
            assert place["url"].startswith("http://127.0.0.1:")
            for headers in ({}, {"authorization": "Bearer no"}):
                answer = httpx2.post(place["url"], json={}, headers=headers)
                assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"

            async def use() -> Any:
                headers = {"authorization": f"Bearer {place['token']}"}
                async with httpx2.AsyncClient(headers=headers) as http:
                    transport = streamable_http_client(place["url"], http_client=http)
                    async with Client(transport, cache=None) as client:
                        return await client.call_tool("echo", {"text": "over http"})

            assert asyncio.run(use()).content[0].text == "over http"
            relay.terminate()
            assert relay.wait(timeout=60) == 0
            assert wait_for(lambda: refused(place["url"]))
        finally:
            relay.kill()
            relay.communicate()
    assert trial.calls[0].text == "over http" and trial.gone()


def refused(url: str) -> bool:
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with door(tmp_path) as trial, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        words = [*trial.words, "--http", str(taken.getsockname()[1])]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (3, "") and "in use" in done.stderr


def test_a_device_is_no_control_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gateway", "--config", "/dev/zero"]) == 2
    assert "no regular file" in capsys.readouterr().err
