"""`mcpe gateway` as the server of a foreign host: the same checks as in process, and nothing lost, hidden or left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError

from mcpeval_dsl.cli.main import main
from mcpeval_dsl.gateway.control import BadControl, read_control, write_control
from mcpeval_dsl.gateway.distractors import catalogue_tools, shipped
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.gateway.spool import read_spool
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import CallPattern
from mcpeval_dsl.semantics.model import Never
from tests.gateway.hosts import ERAS, FREE, as_host, control, gone, living, written


@pytest.mark.parametrize("era", ERAS)
def test_a_host_of_either_era_sees_the_servers_tools_by_its_own_names(
    tmp_path: Path, era: Literal["auto", "legacy"]
) -> None:
    given = control(tmp_path, tools=(("tiny", "echo", "mcp__tiny__echo"),), instructions="Be kind.")

    async def use(client: Client) -> tuple[Any, Any, Any]:
        result = await client.call_tool("mcp__tiny__echo", {"text": "hi"})
        return (await client.list_tools()).tools, result, client.instructions

    tools, result, instructions = as_host(written(tmp_path, given), use, era)
    assert [tool.name for tool in tools] == ["mcp__tiny__echo"]
    assert instructions == "Be kind."
    assert result.content[0].text == "hi" and not result.is_error
    back = read_spool(tmp_path / "spool.jsonl")
    (call,) = back.calls
    assert (call.server, call.tool, call.wire_name, call.text) == ("tiny", "echo", "mcp__tiny__echo", "hi")
    assert call.charged and call.permission.decision == "allowed" and call.actor == "agent"
    assert back.hosts[0]["revision"] == ("2026-07-28" if era == "auto" else "2025-11-25")
    assert back.damaged == back.cut == 0 and gone(tmp_path)


def test_what_is_not_permitted_never_reaches_the_server(tmp_path: Path) -> None:
    may = (CallPattern("echo", "tiny"),)
    rules = Rules(may=may, never=(Never(CallPattern("wipe_all", "tiny"), "critical"),))
    given = control(tmp_path, rules=rules)

    async def use(client: Client) -> list[Any]:
        names = ("echo", "wipe_all", "no_such_tool")
        return [await client.call_tool(name, {"text": "hi"}) for name in names]

    results = as_host(written(tmp_path, given), use)
    assert [result.is_error for result in results] == [False, True, True]
    back = read_spool(tmp_path / "spool.jsonl")
    assert [call.permission.decision for call in back.calls] == ["allowed", "denied", "denied"]
    assert [(each.kind, each.severity, each.call) for each in back.violations] == [("never", "critical", "c2")]
    assert back.charged == 1


def test_a_host_that_starts_its_server_anew_has_no_new_budget(tmp_path: Path) -> None:
    words = written(tmp_path, control(tmp_path, hard_calls=2))

    async def one(client: Client) -> Any:
        return await client.call_tool("echo", {})

    results = [as_host(words, one) for _ in range(3)]
    assert [result.is_error for result in results] == [False, False, True]
    back = read_spool(tmp_path / "spool.jsonl")
    assert back.starts == 3 and back.charged == 2
    assert [call.id for call in back.calls] == ["c1", "c2", "c3"]
    assert back.calls[-1].stop == "hard_budget:calls"


def test_a_fault_is_met_once_by_all_the_processes_of_a_trial(tmp_path: Path) -> None:
    words = written(tmp_path, control(tmp_path, faults=(Fault("timeout", (CallPattern("echo"),), nth=2),)))

    async def one(client: Client) -> Any:
        return await client.call_tool("echo", {"text": "hi"})

    results = [as_host(words, one) for _ in range(3)]
    assert [result.is_error for result in results] == [False, True, False]
    back = read_spool(tmp_path / "spool.jsonl")
    assert [call.fault for call in back.calls] == ["", "timeout", ""] and back.charged == 2


@pytest.mark.parametrize("era", ERAS)
def test_distractors_are_shown_and_answered_to_a_host(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    decoys = catalogue_tools(shipped("kubernetes"), "kubernetes")
    words = written(tmp_path, control(tmp_path, distractors=decoys))

    async def use(client: Client) -> Any:
        listed = await client.list_tools()
        return {tool.name for tool in listed.tools}, await client.call_tool("list_pods", {"namespace": "prod"})

    names, answer = as_host(words, use, era)
    assert {"echo", "list_pods", "drain_node"} <= names
    assert not answer.is_error and "pods" in answer.structured_content
    (call,) = read_spool(tmp_path / "spool.jsonl").calls
    assert (call.server, call.distractor, call.charged) == ("kubernetes", True, True)


def test_correlation_ids_go_through_and_into_the_record(tmp_path: Path) -> None:
    meta = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "host.example/call": "toolu_7"}

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {}, meta=meta)  # type: ignore[arg-type]  # an open map

    result = as_host(written(tmp_path, control(tmp_path, "meta")), use)
    assert json.loads(result.content[0].text) == meta
    assert read_spool(tmp_path / "spool.jsonl").meta == {"c1": meta}


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_told_to_the_host(tmp_path: Path, era: Literal["auto", "legacy"]) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {}, progress_callback=hear)

    result = as_host(written(tmp_path, control(tmp_path, "progress")), use, era)
    assert result.content[0].text == "slow but sure"
    assert heard == [float(step) for step in range(8)]


def test_content_that_is_no_text_goes_through_as_it_is(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {})

    result = as_host(written(tmp_path, control(tmp_path, "image")), use)
    assert result.content[0].type == "image" and result.content[0].data == "QUJD" * 10


@pytest.mark.parametrize("shown", [True, False])
def test_protocol_errors_as_the_profile_says(tmp_path: Path, shown: bool) -> None:
    async def use(client: Client) -> Any:
        try:
            return await client.call_tool("echo", {})
        except MCPError as error:
            return error

    result = as_host(written(tmp_path, control(tmp_path, "rpc_error", show_protocol_errors=shown)), use)
    error = read_spool(tmp_path / "spool.jsonl").calls[0].error
    assert error is not None and error.error_class == "protocol_error"
    if shown:
        assert isinstance(result, MCPError) and result.error.code == -32602
    else:
        assert result.is_error and "unavailable" in result.content[0].text


def test_a_secret_is_in_no_file(tmp_path: Path) -> None:
    secret = "s3cr3t-0f-the-tracker"
    given = control(tmp_path, secrets={"TRACKER_TOKEN": secret})

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {"text": secret}, meta={"host.example/id": secret})  # type: ignore[arg-type]

    assert as_host(written(tmp_path, given), use).is_error
    assert (tmp_path / "control.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "spool.jsonl").stat().st_mode & 0o777 == 0o600
    assert secret not in (tmp_path / "spool.jsonl").read_text()
    assert [each.kind for each in read_spool(tmp_path / "spool.jsonl").violations] == ["secret_in_argument"]


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


def wait_for(condition: Any, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.03)
    return False


def test_standard_output_is_protocol_only(tmp_path: Path) -> None:
    host = started(written(tmp_path, control(tmp_path, "noise")))
    assert host.stdin is not None and host.stdout is not None
    host.stdin.write(conversation())
    host.stdin.flush()
    lines = [json.loads(host.stdout.readline()) for _ in range(2)]
    rest, _ = host.communicate(timeout=20)
    assert rest == b"" and host.returncode == 0
    assert {line["id"] for line in lines} == {1, 2} and all(line["jsonrpc"] == "2.0" for line in lines)
    assert gone(tmp_path)


def test_a_call_under_way_when_the_host_leaves_is_recorded(tmp_path: Path) -> None:
    host = started(written(tmp_path, control(tmp_path, "hang")))
    assert host.stdin is not None
    host.stdin.write(conversation())
    host.stdin.flush()
    spool = tmp_path / "spool.jsonl"
    assert wait_for(lambda: spool.exists() and b'"attempt"' in spool.read_bytes())
    host.communicate(timeout=20)
    (call,) = read_spool(spool).calls
    assert call.effect_unknown and call.error is not None and call.error.cause == "harness"
    assert gone(tmp_path)


@pytest.mark.parametrize("victim", ["host", "proxy"])
def test_a_killed_host_or_proxy_loses_no_record_and_leaves_nothing(tmp_path: Path, victim: str) -> None:
    words = written(tmp_path, control(tmp_path, "hang_second"))
    script = "import subprocess,sys,time; p=subprocess.Popen(sys.argv[1:],stdin=0,stdout=1); time.sleep(60)"
    host = started([sys.executable, "-S", "-c", script, *words], start_new_session=True)
    assert host.stdin is not None and host.stdout is not None
    host.stdin.write(conversation())
    host.stdin.flush()
    for _ in range(2):
        host.stdout.readline()
    host.stdin.write(conversation().splitlines(keepends=True)[2].replace(b'"id": 2', b'"id": 3'))
    host.stdin.flush()
    spool = tmp_path / "spool.jsonl"
    assert wait_for(lambda: len(read_spool(spool).calls) == 2)
    time.sleep(0.2)
    try:
        if victim == "host":
            os.kill(host.pid, signal.SIGKILL)
            # Its end of the pipe stays open in this process, as in a host's other children.
            assert gone(tmp_path), living(tmp_path)
        else:
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit() and entry.name != str(host.pid):
                    told = (entry / "cmdline").read_bytes() if (entry / "cmdline").exists() else b""
                    if told.split(b"\0")[-2:-1] == [str(tmp_path / "control.json").encode()]:
                        os.kill(int(entry.name), signal.SIGKILL)
            assert wait_for(lambda: not [words for words in living(tmp_path) if "tiny.py" in words], 8)
        back = read_spool(spool)
        assert back.calls[0].text == "ok" and len(back.calls) == 2
        assert back.calls[1].effect_unknown
    finally:
        host.kill()
        host.communicate()


def test_told_to_end_it_ends_its_servers(tmp_path: Path) -> None:
    proxy = started(written(tmp_path, control(tmp_path, "hang")))
    assert proxy.stdin is not None
    proxy.stdin.write(conversation())
    proxy.stdin.flush()
    assert wait_for(lambda: len(read_spool(tmp_path / "spool.jsonl").calls) == 1)
    time.sleep(0.2)
    proxy.terminate()
    assert proxy.wait(timeout=15) == 0 and gone(tmp_path)
    assert read_spool(tmp_path / "spool.jsonl").cut == 0
    proxy.communicate()


def test_a_server_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    given = control(tmp_path)
    words = written(tmp_path, given)
    data = json.loads((tmp_path / "control.json").read_text())
    data["launches"][0]["argv"] = ["no-such-program"]
    (tmp_path / "control.json").write_text(json.dumps(data))

    async def use(client: Client) -> Any:
        return await client.call_tool("echo", {})

    assert as_host(words, use).is_error
    assert "was not found" in " ".join(read_spool(tmp_path / "spool.jsonl").problems)


BROKEN = {
    "absent": None,
    "no JSON": "{",
    "another format": '{"format": "mcpe-plan/1"}',
    "incomplete": '{"format": "mcpe-gateway/1"}',
    "a list": "[]",
    "wrong rules": '{"format": "mcpe-gateway/1", "spool": "s", "launches": [], "rules": {"may": [{"kind": "no"}]}}',
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


def test_a_spool_that_cannot_be_written_ends_with_74(tmp_path: Path) -> None:
    given = control(tmp_path)
    words = written(tmp_path, given)
    data = json.loads((tmp_path / "control.json").read_text())
    data["spool"] = str(tmp_path / "absent" / "spool.jsonl")
    (tmp_path / "control.json").write_text(json.dumps(data))
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (74, "") and "spool.jsonl" in done.stderr


def test_the_control_file_says_the_same_when_it_is_read_and_is_written_once(tmp_path: Path) -> None:
    rules = Rules(
        policy="simulate",
        may=(CallPattern("echo", "tiny"),),
        never=(Never(CallPattern("wipe_*", None), "critical"),),
        trust_hints=frozenset({"tiny"}),
        allow_writes=True,
    )
    way: dict[str, Any] = {"faults": (Fault("http", (CallPattern("echo"),), code=429, seconds=2.0),), "seed": 7}
    way |= {"canaries": {"key": "k"}, "allow_drift": {"tiny": ("descriptions",)}}
    decoys = catalogue_tools(shipped("kubernetes"), "kubernetes")
    given = control(tmp_path, distractors=decoys, rules=rules, hard_calls=4, **way)
    write_control(tmp_path / "control.json", given)
    assert read_control(tmp_path / "control.json") == given
    with pytest.raises(FileExistsError):
        write_control(tmp_path / "control.json", given)


def test_a_spool_cut_in_the_middle_of_a_line_keeps_what_is_whole(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        await client.call_tool("echo", {"text": "one"})
        return await client.call_tool("echo", {"text": "two"})

    as_host(written(tmp_path, control(tmp_path, rules=FREE)), use)
    path = tmp_path / "spool.jsonl"
    data = path.read_bytes()
    for cut in range(0, len(data), 97):
        path.write_bytes(data[:cut])
        back = read_spool(path)
        assert back.damaged <= 1 and back.cut <= 1 and len(back.calls) <= 2
    path.write_bytes(data + b'\x00\x00garbage\n{"type": "call"}\n')
    assert len(read_spool(path).calls) == 2 and read_spool(path).damaged == 2
    assert read_spool(tmp_path / "absent").calls == ()


def test_over_http_only_who_knows_the_token_is_served(tmp_path: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    proxy = started([*written(tmp_path, control(tmp_path)), "--http", "0"])
    assert proxy.stdout is not None
    try:
        place = json.loads(proxy.stdout.readline())
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
        proxy.terminate()
        assert proxy.wait(timeout=15) == 0
        assert read_spool(tmp_path / "spool.jsonl").calls[0].text == "over http" and gone(tmp_path)
    finally:
        proxy.kill()
        proxy.communicate()
