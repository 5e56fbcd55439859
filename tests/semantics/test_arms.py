"""Arms, versions and what they are compared with: what is warned of, and the near misses that are fine."""

from __future__ import annotations

import pytest

from mcpeval_dsl.semantics import check_text

BASE = """suite s { judge canned }
model canned { script "x.yaml" }
task t { prompt "x"; grade contains "x" }
"""
ONE = 'server tracker { stdio "tracker" }\n'
TWO = ONE + 'server rival { stdio "rival" }\n'
VERSIONS = 'server old { catalog tracker; stdio "old" }\nserver new { catalog tracker; stdio "new" }\n'
MCP = "arm mcp { servers tracker }\n"
NONE = "arm none { }\n"
CLI = 'arm cli { shell "grep" }\n'
API = 'arm api { http "https://api.example.org" }\n'


def codes(text: str) -> set[str]:
    return {found.code for found in check_text(BASE + text) if found.code.startswith("MCPE35")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE + MCP + NONE + "lift mcp over none\n", {"MCPE352"}),
        (ONE + MCP + NONE, set()),
        (ONE + MCP + CLI + "lift mcp over cli\n", set()),
        (ONE + MCP + API + "lift mcp over api\n", set()),
        (ONE + MCP + NONE + CLI + "lift mcp over none\nlift mcp over cli\n", set()),
        (ONE + MCP + NONE + CLI + "lift mcp over none\nlift cli over none\n", {"MCPE352"}),
        (TWO + MCP + "arm other { servers rival }\nlift mcp over other\n", set()),
        (TWO + MCP + "matrix { server = [tracker, rival] }\n", {"MCPE351"}),
        (VERSIONS + MCP + "matrix { server = [old, new] }\n", set()),
        (VERSIONS + MCP + "matrix { server = [old] }\n", set()),
        (ONE + 'arm api { http "api.example.org" }\n', {"MCPE350"}),
        (ONE + 'arm api { http "http://[broken/" }\n', {"MCPE350"}),
        (ONE + 'arm api { http "http://127.0.0.1:99999/" }\n', {"MCPE350"}),
        (ONE + 'arm api { http "https://" }\n', {"MCPE350"}),
        (ONE + 'let host = "http://127.0.0.1:80"\narm api { http host }\n', set()),
        (TWO + 'arm other { servers rival }\ntask u { servers tracker; prompt "x"; grade contains "x" }\n', set()),
    ],
)
def test_what_is_said_of_arms(text: str, expected: set[str]) -> None:
    assert codes(text) == expected


def test_an_arm_that_no_task_gives_a_server() -> None:
    narrow = BASE.replace("task t { prompt", "task t { servers tracker; prompt")
    found = {d.code for d in check_text(narrow + TWO + "arm other { servers rival }\n")}
    assert "MCPE353" in found
    assert "MCPE353" not in {d.code for d in check_text(narrow + VERSIONS + "arm one { servers old }\n")}


@pytest.mark.parametrize(
    ("where", "known"),
    [
        ('server s { prepare { checkout "v1" }; stdio "{{ prepared }}/run" }', True),
        ('server s { prepare { run "make" "-C" "{{ prepared }}" }; stdio "x"; env PLACE = "{{ prepared }}" }', True),
        ('server s { stdio "{{ prepared }}/run" }', False),
        ('server s { prepare { checkout "v1" }; stdio "x" }\nenvironment e { run "ls" "{{ prepared }}" }', False),
    ],
)
def test_the_folder_of_a_version_is_known_to_its_server_alone(where: str, known: bool) -> None:
    errors = [found for found in check_text(BASE + where + "\n") if found.severity == "error"]
    assert (not errors) == known, errors


@pytest.mark.parametrize("limit", ["calls <= 3", "calls <= few", "calls <= 3 hard few", "tokens <= few hard 40k"])
def test_a_limit_is_a_number_or_an_axis_of_numbers(limit: str) -> None:
    spec = BASE.replace("grade", f"budget {limit}; grade") + ONE
    assert "MCPE354" not in codes_of(spec + "matrix { few = [3, 6] }\n")
    if "few" in limit:
        assert "MCPE354" in codes_of(spec + 'matrix { few = ["some", "6"] }\n')
        assert "MCPE354" in codes_of(spec)


def codes_of(text: str) -> set[str]:
    return {found.code for found in check_text(text)}


DOOR = 'ready tcp "127.0.0.1:80" within 5s'
FINE = """server s { VERSION; stdio "x"; timeout 1ms }
server w { http "http://127.0.0.1:8080/mcp" }
environment e { run "true" { timeout 1s }; DOOR }
arm cli { shell "grep", "./tools/find.sh"; timeout 1s }
arm api { http "http://127.0.0.1:9/v1" { allow GET "*"; allow POST "/a b" } }
arm none { }
lift cli over none by [tag, model, few]
matrix { few = [1, 2] }
check w { latency p95 <= 1s over 10000 calls }
gate { require task_success >= 100%; require lift >= -100% }
""".replace("VERSION", 'prepare { checkout "v1.0" }').replace("DOOR", DOOR)


@pytest.mark.parametrize(
    ("good", "bad", "code"),
    [
        ("timeout 1ms", "timeout 0s", "MCPE232"),
        ("timeout 1s }; ready", "timeout 0s }; ready", "MCPE232"),
        ("timeout 1s }\narm", "timeout 0s }\narm", "MCPE232"),
        ("within 5s", "within 0s", "MCPE232"),
        ("over 10000 calls", "over 10001 calls", "MCPE232"),
        ("task_success >= 100%", "task_success >= 101%", "MCPE232"),
        ('"grep"', '""', "MCPE355"),
        ('"grep"', '"grep -r"', "MCPE355"),
        ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:99999/mcp", "MCPE356"),
        ("http://127.0.0.1:8080/mcp", "http://[x/", "MCPE356"),
        ("http://127.0.0.1:8080/mcp", "", "MCPE356"),
        ("http://127.0.0.1:8080/mcp", "ftp://127.0.0.1/mcp", "MCPE356"),
        (DOOR, 'ready tcp "127.0.0.1" within 5s', "MCPE356"),
        (DOOR, 'ready tcp "127.0.0.1:66000" within 5s', "MCPE356"),
        (DOOR, 'ready http "127.0.0.1:80" within 5s', "MCPE356"),
        ('"v1.0"', '""', "MCPE357"),
        ('"v1.0"', '"v1 v2"', "MCPE357"),
        ('checkout "v1.0"', 'network "example.org"', "MCPE357"),
        ('stdio "x"', 'stdio ""', "MCPE358"),
        ('run "true"', 'run " "', "MCPE358"),
        ('GET "*"', 'GET "issues"', "MCPE350"),
        ('GET "*"', 'GET ""', "MCPE350"),
        ("lift cli over none", "lift cli over cli", "MCPE359"),
        ("by [tag, model, few]", "by [tag, modle]", "MCPE264"),
        ("by [tag, model, few]", "by fewer", "MCPE264"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_is_written(good: str, bad: str, code: str) -> None:
    errors = {found.code for found in check_text(BASE + FINE) if found.severity == "error"}
    assert errors == set()
    assert FINE.count(good) == 1
    found = [found for found in check_text(BASE + FINE.replace(good, bad)) if found.severity == "error"]
    assert [each.code for each in found] == [code] and found[0].hint + found[0].body
