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
