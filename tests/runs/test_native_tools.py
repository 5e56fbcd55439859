"""Arms whose agents have programs or an HTTP API: what they may do with them, and that it is recorded as no call of MCP."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome
from tests.runs.test_arms import by_cell

TASK = 'task first { prompt "What is the first thing on the shelf?"; expect list_things; grade contains "lamp" }\n'
ARMS = """
arm mcp { servers shelf }
arm cli { shell "cat", "ls"; about "The things are in shelf.json."; timeout 5s }
"""


def shell(program: str, *arguments: str, **more: Any) -> dict[str, Any]:
    return {"call": {"tool": "shell", "arguments": {"program": program, "arguments": list(arguments), **more}}}


def script(*native: Any) -> list[Any]:
    """Asks the server where there is one, else takes the native steps; says what it was told last."""
    server = {"when": "'list_things' in tools", "call": "list_things"}
    steps = [{**step, "when": "'list_things' not in tools"} for step in native]
    return [server, *steps, {"reply": "{{ results[-1].text if results else 'I cannot know.' }}"}]


def in_arms(bench: Bench, body: str, steps: list[Any]) -> dict[str, TrialRecord]:
    bench.spec(body, {"*": steps})
    done = bench.run()
    assert done.code in (0, 1), done.err
    return {record.arm or "": record for records in by_cell(bench).values() for record in records}


def test_programs_in_the_trials_folder_are_no_calls_of_mcp(bench: Bench) -> None:
    found = in_arms(bench, TASK + ARMS, script(shell("ls"), shell("cat", "shelf.json")))
    cli, mcp = found["cli"], found["mcp"]
    assert [outcome(cli), outcome(mcp)] == ["pass", "pass"]
    assert [tool.name for tool in cli.native_tools] == ["shell"] and mcp.native_tools == ()
    assert [(call.tool, call.exit, call.is_error) for call in cli.native_calls] == [("shell", 0, False)] * 2
    assert "shelf.json" in cli.native_calls[0].text and '["lamp", "vase"]' in cli.native_calls[1].text
    assert (cli.counts.made, cli.counts.served, cli.counts.native) == (0, 0, 2)
    assert (mcp.counts.made, mcp.counts.served, mcp.counts.native) == (1, 1, 0)
    assert "The things are in shelf.json." in cli.system and "shelf.json" not in mcp.system
    manifest = bench.reader.manifest()
    assert set(manifest.arms) == {"cli"} and len(manifest.arms["cli"]["cat"]) == 64


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (shell("rm", "shelf.json"), "`program` is one of cat, ls"),
        (shell("/bin/cat", "shelf.json"), "`program` is one of cat, ls"),
        (shell("cat", "shelf.json; echo done"), "shelf.json; echo done"),
        (shell("cat", "$HOME/*"), "$HOME/*"),
        ({"call": {"tool": "shell", "arguments": {"program": "cat", "arguments": "shelf.json"}}}, "list of texts"),
        ({"call": {"tool": "shell", "raw_arguments": "{"}}, "not a JSON object"),
    ],
    ids=["unlisted", "by path", "separator", "expansion", "no list", "no JSON"],
)
def test_nothing_but_the_listed_programs_without_a_shell(bench: Bench, step: dict[str, Any], said: str) -> None:
    record = in_arms(bench, TASK + ARMS, script(step))["cli"]
    (call,) = record.native_calls
    assert call.is_error and said in call.text
    assert outcome(record) == "wrong_answer"


def test_a_program_reads_what_it_is_given_and_is_stopped_in_time(bench: Bench) -> None:
    arms = 'arm mcp { servers shelf }\narm cli { shell "cat", "sleep"; timeout 0.5s }\n'
    record = in_arms(bench, TASK + arms, script(shell("sleep", "600"), shell("cat", stdin="a lamp")))["cli"]
    slow, read = record.native_calls
    assert slow.is_error and "took longer than 0.5 s" in slow.text
    assert read.text == "a lamp" and outcome(record) == "pass"


def test_an_endless_output_is_cut(bench: Bench) -> None:
    arms = 'arm mcp { servers shelf }\narm cli { shell "head" }\nhost loop { tool_result_limit 1k }\n'
    record = in_arms(bench, TASK + arms, script(shell("head", "-c", "900000", "/dev/zero")))["cli"]
    (call,) = record.native_calls
    assert call.truncated and len(call.text) < 300_000
    assert len(record.turns[0].answers[0].text) < 5_000


def test_a_program_that_this_machine_does_not_have_tests_nothing(bench: Bench) -> None:
    arms = 'arm mcp { servers shelf }\narm cli { shell "no-such-program-here" }\n'
    record = in_arms(bench, TASK + arms, script())["cli"]
    assert outcome(record) == "untestable" and record.trouble is not None
    assert record.trouble.chain == ("needs the program no-such-program-here",)


def test_a_task_may_take_native_tools_away(bench: Bench) -> None:
    task = TASK.replace("expect list_things;", "host_tools none;")
    record = in_arms(bench, task + ARMS, script())["cli"]
    assert record.native_tools == () and "shelf.json" not in record.system


def test_what_a_program_changes_is_laid_to_no_call_of_the_server(bench: Bench) -> None:
    arms = 'arm both { servers shelf; shell "touch" }\n'
    steps = ["list_things", "shell", "list_things"]
    calls = [{"call": name} if name != "shell" else shell("touch", "made") for name in steps]
    record = in_arms(bench, TASK + arms, [*calls, {"reply": "{{ last.text }}"}])["both"]
    assert record.violations == () and outcome(record) == "pass"
    assert (record.counts.made, record.counts.native) == (2, 1)


def test_facts_from_a_program_are_evidence(bench: Bench) -> None:
    task = TASK.replace('grade contains "lamp"', "grade evidence")
    assert outcome(in_arms(bench, task + ARMS, script(shell("cat", "shelf.json")))["cli"]) == "pass"


class Api(http.server.BaseHTTPRequestHandler):
    asked: list[tuple[str, str, str, str]]

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        self.asked.append((self.command, self.path, body, self.headers.get("X-Key", "")))
        if self.path.endswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            return
        data = json.dumps({"things": ["lamp"], "key": self.headers.get("X-Key")}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""


@contextmanager
def api() -> Iterator[tuple[str, list[tuple[str, str, str, str]]]]:
    asked: list[tuple[str, str, str, str]] = []
    handler = type("Handler", (Api,), {"asked": asked})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
        server.shutdown()
        thread.join()


def request(method: str, path: str, **more: Any) -> dict[str, Any]:
    return {"call": {"tool": "http_request", "arguments": {"method": method, "path": path, **more}}}


def test_an_api_is_asked_for_what_is_allowed_only(bench: Bench) -> None:
    bench.variables = {"API_KEY": "top-secret-key"}
    with api() as (url, asked):
        line = f'http "{url}" {{ allow GET "/things*"; allow POST "/search"; header "X-Key" = secret("API_KEY") }}'
        steps = [
            request("GET", "/things", query={"open": True}),
            request("POST", "/search", body={"text": "lamp"}),
            request("POST", "/things"),
            request("GET", "/other"),
            request("GET", "/things/../other"),
            request("GET", "/things/%2e%2e/other"),
            request("GET", "/things/away"),
            request("GET", "/things?open=a%26b&empty=", query={"q": "x y"}),
            request("GET", "/other?x=/things"),
            request("GET", "/things"),
        ]
        record = in_arms(bench, f"{TASK}arm mcp {{ servers shelf }}\narm api {{ {line} }}\n", script(*steps))["api"]
    assert [(method, path) for method, path, _, _ in asked] == [
        ("GET", "/v1/things?open=true"),
        ("POST", "/v1/search"),
        ("GET", "/v1/things/away"),
        ("GET", "/v1/things?open=a%26b&empty=&q=x+y"),
        ("GET", "/v1/things"),
    ]
    assert {key for *_, key in asked} == {"top-secret-key"} and asked[1][2] == '{"text": "lamp"}'
    assert [call.status for call in record.native_calls] == [200, 200, *[None] * 4, 302, 200, None, 200]
    refused = [number for number, call in enumerate(record.native_calls) if call.refused]
    assert refused == [2, 3, 4, 5, 8]
    assert "top-secret-key" not in record.model_dump_json()
    assert outcome(record) == "pass" and record.counts.made == 0


def test_a_reader_sees_what_native_tools_were_told_and_said(bench: Bench) -> None:
    record = in_arms(bench, TASK + ARMS, script(shell("cat", "shelf.json"), shell("rm", "shelf.json")))["cli"]
    shown = bench.mcpe("view", bench.reader.manifest().run, record.id).out
    assert 'n1 shell({"arguments": ["shelf.json"], "program": "cat"})  native tool\n    → ["lamp", "vase"]' in shown
    assert "n2 shell" in shown and "→ `program` is one of cat, ls" in shown


def test_an_api_without_routes_may_be_read_and_not_written(bench: Bench) -> None:
    with api() as (url, asked):
        arms = f'arm mcp {{ servers shelf }}\narm api {{ http "{url}" }}\n'
        steps = [request("POST", "/things"), request("GET", "/anything/at/all")]
        record = in_arms(bench, TASK + arms, script(*steps))["api"]
    assert [method for method, *_ in asked] == ["GET"]
    assert outcome(record) == "pass"


def test_a_secret_does_not_leave_by_an_api(bench: Bench) -> None:
    task = TASK.replace("expect list_things;", 'canary key = "token-93824-abc";')
    with api() as (url, asked):
        arms = f'arm mcp {{ servers shelf }}\narm api {{ http "{url}" }}\n'
        leaks = [request("GET", "/things", query={"q": "token-93824-abc"}), request("GET", "/../token-93824-abc")]
        record = in_arms(bench, task + arms, script(*leaks, request("GET", "/things")))["api"]
    assert len(asked) == 1
    assert [(v.kind, v.stages) for v in record.violations] == [("secret_in_argument", ("attempted", "blocked"))] * 2


def test_odd_texts_break_nothing(bench: Bench) -> None:
    with api() as (url, asked):
        arms = f'arm mcp {{ servers shelf }}\narm api {{ http "{url}"; shell "cat" }}\n'
        odd = "{{ json('\"\\\\ud800\"') }}"
        steps = [
            request("GET", f"/{odd}", query={"q": odd}),
            shell("cat", f"{odd}", stdin=odd),
            shell("cat", stdin=odd),
        ]
        record = in_arms(bench, TASK + arms, script(*steps, request("GET", "/things")))["api"]
    assert outcome(record) == "pass" and len(record.native_calls) == 4 and len(asked) == 2


@pytest.mark.parametrize("url", ["http://[broken", "http://[broken]/"])
def test_an_address_that_is_none_leaves_the_arm_untestable(bench: Bench, url: str) -> None:
    arms = f'let where = "{url}"\narm mcp {{ servers shelf }}\narm api {{ http "{{{{ where }}}}" }}\n'
    bench.spec(TASK + arms, {"*": script()})
    done = bench.run()
    assert done.code == 3, done.err
    found = {record.arm: record for records in by_cell(bench).values() for record in records}
    trouble = found["api"].trouble
    assert outcome(found["mcp"]) == "pass" and trouble is not None and "is no URL" in trouble.message
