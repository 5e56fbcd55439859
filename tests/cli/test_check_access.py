"""`mcpe check` over HTTP: tokens, origins, transports, the metadata of authorisation and the protocol, each kept and broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.bench import Bench

SERVER = Path(__file__).parent / "servers" / "guarded.py"
HEAD = """suite guarded "Guarded" {}
server guarded { http "http://127.0.0.1:{{ port.web }}/mcp"; header "Authorization" = secret("GUARDED"); timeout 5s }
environment net { port web; start "python" "guarded.py" "{{ port.web }}" BROKEN; ready tcp "127.0.0.1:{{ port.web }}" within 10s }
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "project").mkdir()
    found = Bench(tmp_path / "project", {"GUARDED": "Bearer good-token", "GUARDED_EXPIRED": "Bearer old-token"})
    found.write("mcpe.toml", 'specs = ["specs"]\n')
    found.write("specs/guarded.py", SERVER.read_text(encoding="utf-8"))
    return found


def checked(bench: Bench, lines: str, broken: str = "") -> tuple[int, list[dict[str, str]]]:
    words = " ".join(f'"{word}"' for word in broken.split())
    bench.write("specs/guarded.mcpe", f"{HEAD.replace('BROKEN', words)}check guarded {{\n{lines}\n}}\n")
    assert bench.mcpe("trust", "specs", "--yes").code == 0
    ended = bench.mcpe("check", "--format", "json")
    assert "internal error" not in ended.err and "Traceback" not in ended.err, ended.err
    found = [json.loads(line) for line in ended.out.splitlines()]
    return ended.code, [line for line in found if line["type"] == "check"]


METADATA = 'require header "WWW-Authenticate" ~ /resource_metadata/'


@pytest.mark.parametrize(
    ("line", "broken", "state", "said"),
    [
        ("auth none { require status == 401; " + METADATA + " }", "", "pass", ""),
        ("auth none { require status == 401 }", "open", "fail", "200"),
        ("auth none { require status == 401 }", "forbidden", "fail", "403"),
        ("auth none { " + METADATA + " }", "open", "fail", '""'),
        ('auth none { require header "X-Other" == "" }', "", "pass", ""),
        ("auth expired { require status == 401 }", "", "pass", ""),
        ("auth expired { require status == 401 }", "any_token", "fail", "200"),
        ("auth expired { require error ~ /401/ }", "", "pass", ""),
        ('origin "https://evil.example" rejected', "", "pass", ""),
        ('origin "https://evil.example" rejected', "any_origin", "fail", "accepted"),
        ('origin "https://evil.example" rejected', "other_status", "partial", "400"),
        ("transport streamable_http", "", "pass", ""),
        ("transport streamable_http rejected", "", "fail", "supported"),
        ("transport sse rejected", "", "pass", ""),
        ("transport sse rejected", "sse", "fail", "supported"),
        ("transport sse", "sse", "pass", ""),
        ("transport stdio", "", "unsupported", "at a URL"),
        ("oauth metadata", "", "pass", ""),
        ("oauth metadata", "no_metadata", "fail", "no metadata at"),
        ("oauth metadata", "no_token_endpoint", "fail", "token_endpoint"),
        ("oauth metadata", "elsewhere", "partial", "login.example.com was not asked"),
        ("oauth metadata", "open", "unsupported", "no authorisation"),
        ("oauth metadata", "forbidden", "fail", "403"),
        ("oauth pkce", "", "pass", ""),
        ("oauth pkce", "no_pkce", "fail", "code_challenge_methods_supported"),
        ("oauth audience", "", "partial", "no token for another audience"),
        ("oauth audience", "other_resource", "fail", "other.example.com"),
        ("oauth audience", "any_token", "fail", "made-up token is accepted"),
        ("conformance server-initialize", "", "pass", ""),
        ("conformance server-session-lifecycle", "", "pass", ""),
        ("conformance ping", "", "pass", ""),
        ("conformance tools-list", "", "pass", ""),
        ("conformance unknown-method", "", "pass", ""),
        ("conformance unknown-tool", "", "pass", ""),
        ("conformance malformed-message", "", "pass", ""),
        ("conformance dns-rebinding-protection", "", "pass", ""),
        ("conformance dns-rebinding-protection", "any_origin", "fail", "Origin of evil.example"),
        ("conformance caching", "", "unsupported", "2025-11-25"),
        ("latency p95 <= 5s over 5 calls", "", "pass", ""),
        ("latency max <= 0ms over 3 calls", "", "fail", "max "),
    ],
)
def test_a_line(bench: Bench, line: str, broken: str, state: str, said: str) -> None:
    code, found = checked(bench, line, broken)
    assert [each["state"] for each in found] == [state], found
    assert code == {"pass": 0, "fail": 1, "partial": 4, "unsupported": 4}[state]
    assert said in found[0]["actual"] + found[0]["reason"]


def test_calls_as_somebody_with_one_scope(bench: Bench) -> None:
    line = 'auth scope "read" { guarded.get_project(); require status == 200; guarded.create_issue(); require status == 403 }'
    bench.variables["GUARDED_READ"] = "Bearer reader-token"
    assert [each["state"] for each in checked(bench, line)[1]] == ["pass"]
    bench.variables["GUARDED_READ"] = "Bearer good-token"
    code, (found,) = checked(bench, line)
    assert (code, found["state"]) == (1, "fail") and "403" in found["expected"]


def test_without_such_a_token_it_is_not_tested(bench: Bench) -> None:
    code, (found,) = checked(bench, 'auth scope "read:all" { require status == 403 }')
    assert (code, found["state"]) == (3, "not tested") and "GUARDED_READ_ALL" in found["reason"]


def test_a_token_for_another_audience_is_refused(bench: Bench) -> None:
    bench.variables["GUARDED_OTHER_AUDIENCE"] = "Bearer foreign-token"
    assert checked(bench, "oauth audience")[0] == 0
    code, (found,) = checked(bench, "oauth audience", "any_token")
    assert code == 1 and "another audience is accepted" in found["actual"]


def test_tokens_of_the_operator_are_never_shown(bench: Bench) -> None:
    bench.variables["GUARDED_EXPIRED"] = "Bearer expired-and-secret-1234567890"
    checked(bench, "auth expired { require status == 401 }")
    for path in bench.root.rglob("*"):
        assert not path.is_file() or b"expired-and-secret" not in path.read_bytes()


def test_an_origin_says_nothing_where_nobody_is_let_in(bench: Bench) -> None:
    bench.variables["GUARDED"] = "Bearer wrong"
    code, (found,) = checked(bench, 'origin "https://evil.example" rejected')
    assert (code, found["state"]) == (3, "not tested") and "without that Origin" in found["reason"]


def test_a_server_that_is_not_there_is_not_tested(bench: Bench) -> None:
    bench.write("specs/guarded.py", "import sys\n")
    head = HEAD.partition("environment")[0].replace("{{ port.web }}", "9")
    lines = 'auth none { require status == 401 }; transport sse rejected; oauth pkce; origin "https://evil.example" rejected'
    bench.write("specs/guarded.mcpe", f"{head}check guarded {{ {lines}; transport streamable_http }}\n")
    assert bench.mcpe("trust", "specs", "--yes").code == 0
    ended = bench.mcpe("check")
    assert ended.code == 3 and ended.out.count("NOT TESTED") == 5, ended.out


def test_an_unknown_scenario_is_found_by_the_compiler(bench: Bench) -> None:
    bench.write("specs/guarded.mcpe", f"{HEAD.replace('BROKEN', '')}check guarded {{ conformance pnig }}\n")
    ended = bench.mcpe("lint")
    assert ended.code == 2 and "ping" in ended.out
