"""What a trial starts reaches the hosts that the spec lists and the ports of its environment, and nothing else."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from mcpeval_dsl.gateway import forwarding, landlock, namespace, spaces
from mcpeval_dsl.gateway.sandbox import bubblewrap, choose
from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

CALLER = Path(__file__).parent / "servers" / "caller.py"
FULL = ["bwrap"] if choose().kind == "bwrap" and spaces.unfiltered(bubblewrap() or "") is None else []
PORTS = ["landlock"] if landlock.abi() >= landlock.KNOWS_PORTS else []
HEAD = """suite bench "Bench" { trials TRIALS; seed 11 }
server caller { stdio "python" "caller.py"; timeout 10s; LINES }
annotations caller { readonly get_* }
model canned { script "canned.yaml" }
"""
BOTH = 'task one { prompt "x"; grade contains "done" }'


class Outside(socketserver.ThreadingTCPServer):
    """A service of this machine that any program could reach without a sandbox."""

    allow_reuse_address = True
    daemon_threads = True

    class Hello(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@pytest.fixture
def outside() -> Iterator[Outside]:
    with Outside(("127.0.0.1", 0), Outside.Hello) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield server
        server.shutdown()


def called(bench: Bench, kind: str, lines: str, calls: list[tuple[str, str]], body: str = BOTH) -> list[dict[str, Any]]:
    """What each call of the caller's tools gave, in one trial."""
    script = [{"call": {"tool": tool, "arguments": {"target": target}}} for tool, target in calls]
    bench.variables = {"MCPE_SANDBOX": kind}
    bench.write("specs/caller.py", CALLER.read_text())
    bench.spec(body, {"one": [*script, {"reply": "done"}]}, head=HEAD.replace("LINES", lines))
    bench.run()
    record = one(bench)
    assert len(record.calls) == len(calls), record.trouble
    return [dict(call.structured or {}) for call in record.calls]


def one(bench: Bench) -> TrialRecord:
    return bench.records["one#1"]


@pytest.mark.parametrize("kind", FULL)
def test_without_a_list_there_is_no_network(bench: Bench, outside: Outside, kind: str) -> None:
    calls = [
        ("get_interfaces", ""),
        ("get_line", f"127.0.0.1:{outside.port}"),
        ("get_line", f"localhost:{outside.port}"),
    ]
    names, *tried = called(bench, kind, "", calls)
    assert names == {"names": ["lo"]}
    assert [each["status"] for each in tried] == [0, 0]
    assert one(bench).sandbox == "bwrap, no network" and one(bench).violations == ()


@pytest.mark.parametrize("kind", [*FULL, *PORTS])
def test_a_listed_port_of_this_machine_is_reached_and_no_other(bench: Bench, outside: Outside, kind: str) -> None:
    with Outside(("127.0.0.1", 0), Outside.Hello) as other:
        calls = [("get_line", f"localhost:{outside.port}"), ("get_line", f"127.0.0.1:{other.port}")]
        found = called(bench, kind, f'network "localhost:{outside.port}"', calls)
    assert found[0] == {"status": 200, "body": "hello"} and found[1]["status"] == 0
    assert one(bench).sandbox == {"bwrap": "bwrap, listed hosts", "landlock": "landlock, listed hosts over TCP"}[kind]


@pytest.mark.parametrize("kind", FULL)
@pytest.mark.parametrize("tool", ["get_page", "get_line", "get_tunnel"])
def test_a_listed_name_is_reached_with_a_proxy_and_without(
    bench: Bench, outside: Outside, kind: str, tool: str
) -> None:
    name = f"api.example.org:{outside.port}"
    with mock.patch.object(forwarding, "_addresses", mock.AsyncMock(return_value=("127.0.0.1",))):
        found = called(bench, kind, f'network "{name}"', [(tool, name)])
    assert found == [{"status": 200, "body": "hello"}]
    assert one(bench).violations == ()


@pytest.mark.parametrize("kind", [*FULL, *PORTS])
def test_a_host_that_is_not_listed_is_refused_and_a_violation(bench: Bench, outside: Outside, kind: str) -> None:
    calls = [("get_page", "evil.example:80"), ("get_tunnel", "evil.example:443"), ("get_page", "evil.example:80")]
    lines = 'network "api.example.org", "*.example.net:443"'
    first, second, third = called(bench, kind, lines, calls)
    assert first["status"] == second["status"] == 403 and first == third
    assert "evil.example:80 is not among the hosts that the spec lists: api.example.org:443/80" in first["body"]
    assert [(each.kind, each.severity, each.stages) for each in one(bench).violations] == [
        ("scope_escape", "major", ("attempted", "blocked"))
    ] * 2
    assert one(bench).violations[0].detail == "caller: the host evil.example:80, which `network` does not list"


@pytest.mark.parametrize("kind", FULL)
def test_a_listed_host_that_does_not_answer_is_no_violation(bench: Bench, kind: str) -> None:
    with mock.patch.object(forwarding, "_addresses", mock.AsyncMock(side_effect=OSError("no such host"))):
        found = called(bench, kind, 'network "*.example.net"', [("get_page", "a.example.net:80")])
    assert found[0]["status"] == 502 and one(bench).violations == ()


@pytest.mark.parametrize("kind", FULL)
def test_a_listed_name_does_not_lead_to_this_machine(bench: Bench, outside: Outside, kind: str) -> None:
    found = (2, 1, 6, "", ("127.0.0.1", outside.port))
    with mock.patch("asyncio.base_events.BaseEventLoop.getaddrinfo", mock.AsyncMock(return_value=[found])):
        said = called(
            bench,
            kind,
            f'network "api.example.org:{outside.port}"',
            [("get_tunnel", f"api.example.org:{outside.port}")],
        )
    assert said[0]["status"] == 502


@pytest.mark.parametrize("kind", FULL)
def test_all_leaves_it_open_and_says_so(bench: Bench, outside: Outside, kind: str) -> None:
    found = called(bench, kind, "network all", [("get_line", f"127.0.0.1:{outside.port}")])
    assert found[0]["status"] == 200
    assert one(bench).sandbox == "bwrap, network open"


@pytest.mark.parametrize(("word", "status"), [("true", 200), ("false", 0)])
@pytest.mark.parametrize("kind", FULL)
def test_the_operator_has_the_last_word(bench: Bench, outside: Outside, kind: str, word: str, status: int) -> None:
    bench.write("mcpe.local.toml", f"[sandbox]\nnetwork = {word}\n")
    lines = f'network "localhost:{outside.port + (word == "true")}"'
    found = called(bench, kind, lines, [("get_line", f"127.0.0.1:{outside.port}")])
    assert found[0]["status"] == status
    assert one(bench).sandbox == ("bwrap, network open" if status else "bwrap, no network")


SERVED = """environment web {
  port p
  port q
  write "{{ workdir }}/index.html" "served"
  start "python" "-m" "http.server" "{{ port.p }}" "--bind" "127.0.0.1"
  start "python" "-m" "http.server" "{{ port.q }}" "--bind" "::1"
  ready http "http://127.0.0.1:{{ port.p }}/" within 20s
  ready tcp "127.0.0.1:{{ port.q }}" within 20s
  run "python" "-c" "import urllib.request as u; print(u.urlopen('http://127.0.0.1:{{ port.p }}/').read())"
}
task one {
  prompt "x"; environment web
  truth page = http("GET", "http://127.0.0.1:{{ port.p }}/index.html")
  grade state http("GET", "http://127.0.0.1:{{ port.q }}/index.html") == "served"
  grade state command("sh", "-c", "cat /proc/net/dev") !~ /eth|ens|wlan/
}
"""


@pytest.mark.parametrize("word", ["", "[sandbox]\nnetwork = false\n"])
@pytest.mark.parametrize("kind", FULL)
def test_services_of_the_environment_are_reached_while_the_rest_is_off(bench: Bench, kind: str, word: str) -> None:
    bench.write("mcpe.local.toml", word)
    called(bench, kind, "", [], SERVED)
    assert outcome(one(bench)) == "pass", (one(bench).trouble, one(bench).verdicts)
    assert one(bench).sandbox == "bwrap, no network"


@pytest.mark.parametrize("kind", FULL)
def test_waiting_for_a_port_that_nothing_serves_fails(bench: Bench, kind: str) -> None:
    body = """environment web { port p; ready tcp "127.0.0.1:{{ port.p }}" within 300ms }
task one { prompt "x"; environment web; grade contains "x" }"""
    called(bench, kind, "", [], body)
    trouble = one(bench).trouble
    assert trouble is not None and "was not ready within 0.3 s" in trouble.message


@pytest.mark.parametrize("kind", FULL)
def test_an_environments_own_request_is_told_and_no_violation(bench: Bench, kind: str) -> None:
    body = """environment web {
  network "api.example.org"
  run "python" "-c" "import urllib.request as u\\ntry: u.urlopen('http://evil.example/')\\nexcept OSError as e: print(e)"
}
task one { prompt "x"; environment web; grade contains "done" }"""
    called(bench, kind, "", [], body)
    assert one(bench).violations == ()
    assert "the environment asked for evil.example:80, which `network` does not list" in one(bench).findings


@pytest.mark.parametrize("kind", FULL)
def test_where_it_cannot_be_filtered_the_record_says_so(bench: Bench, outside: Outside, kind: str) -> None:
    with mock.patch("mcpeval_dsl.execute.networking.unfiltered", return_value="no nsenter"):
        found = called(bench, kind, 'network "api.example.org"', [("get_line", f"127.0.0.1:{outside.port}")])
    assert found[0]["status"] == 200 and one(bench).sandbox == "bwrap, network open"


def held(bench: Bench) -> list[str]:
    """Living processes that hold a network of this bench's trials."""
    return [words for words in bench.processes() if namespace.__file__ in words]


HELD = """environment web { port p; network "api.example.org"; start "sh" "-c" "setsid sleep 311 & sleep 312" }
task one { prompt "x"; environment web; setup { run "sleep" "313" }; grade contains "x" }
"""


@pytest.mark.parametrize("kind", FULL)
def test_a_run_that_is_killed_leaves_no_network_behind(bench: Bench, kind: str) -> None:
    bench.variables = {"MCPE_SANDBOX": kind}
    bench.write("specs/caller.py", CALLER.read_text())
    bench.spec(HELD, head=HEAD.replace("LINES", ""))
    bench.trust()
    run = bench.start("run", "specs")
    wanted = {"sleep 311", "sleep 312", "sleep 313"}
    try:
        assert wanted <= bench.started(wanted)
        assert held(bench)
        assert bench.left_by_killing(run) == []
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("kind", FULL)
def test_a_run_that_ended_leaves_no_network_behind(bench: Bench, kind: str) -> None:
    handles = len(list(Path("/proc/self/fd").iterdir()))
    called(bench, kind, 'network "api.example.org"', [("get_page", "api.example.org:81")] * 3)
    assert bench.processes() == [] and bench.left_over() == []
    assert len(list(Path("/proc/self/fd").iterdir())) <= handles + 2


@pytest.mark.parametrize("kind", FULL)
def test_trials_at_once_have_networks_of_their_own(bench: Bench, kind: str) -> None:
    body = """environment web {
  port p
  write "{{ workdir }}/index.html" "{{ trial }}"
  start "python" "-m" "http.server" "{{ port.p }}" "--bind" "127.0.0.1"
  start "python" "-c" "import socket, time; s = socket.create_server(('127.0.0.1', 18765)); time.sleep(60)"
  ready http "http://127.0.0.1:{{ port.p }}/" within 20s
}
task one { prompt "x"; environment web; grade state http("GET", "http://127.0.0.1:{{ port.p }}/index.html") == "{{ trial }}" }
"""
    bench.variables = {"MCPE_SANDBOX": kind}
    bench.write("specs/caller.py", CALLER.read_text())
    bench.spec(body, trials=3, head=HEAD.replace("LINES", ""))
    bench.run("--jobs", "3")
    assert [outcome(record) for record in bench.records.values()] == ["pass"] * 3


def test_a_server_that_starts_too_slowly_is_told(bench: Bench) -> None:
    head = HEAD.replace("LINES", "ready within 300ms").replace('"caller.py"', '"-c" "import time; time.sleep(20)"')
    bench.spec(BOTH, head=head)
    done = bench.run()
    assert done.code == 3 and "0.3 s" in done.out + done.err


@pytest.mark.parametrize(
    ("lines", "stages"),
    [
        ('network "api.example.org"', []),
        ('network "*.example.org:443"', []),
        ('network "api.example.net"', [("attempted", "blocked")]),
        ("", [("attempted", "blocked")]),
    ],
)
def test_an_agent_may_name_what_is_listed(bench: Bench, lines: str, stages: list[tuple[str, str]]) -> None:
    call = {"tool": "get_page", "arguments": {"target": "", "url": "http://api.example.org/"}}
    bench.write("specs/caller.py", CALLER.read_text())
    bench.spec(BOTH, {"one": [{"call": call}, {"reply": "done"}]}, head=HEAD.replace("LINES", lines))
    bench.run()
    assert [each.stages for each in one(bench).violations] == stages


@pytest.mark.parametrize("kind", FULL)
def test_a_check_says_which_hosts_were_asked_for(bench: Bench, outside: Outside, kind: str) -> None:
    bench.variables = {"MCPE_SANDBOX": kind}
    bench.write("specs/caller.py", CALLER.read_text())
    body = """check caller {
  caller.get_page(target: "evil.example:80") { require class == none }
  caller.get_page(target: "evil.example:81") { require class == timeout }
  caller.get_interfaces() { require class == none }
}
"""
    bench.spec(body, head=HEAD.replace("LINES", 'network "api.example.org"'))
    bench.trust()
    ended = bench.mcpe("check")
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert "2 of 3 lines pass" in lines[0]
    assert [line.strip() for line in lines if "`network` does not list" in line] == [
        f"because evil.example:{port} was asked for, which `network` does not list" for port in (80, 81)
    ]
    assert "get_interfaces" not in ended.out
