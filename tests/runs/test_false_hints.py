"""Public servers that call a tool read-only which is not: caught by what it did, not by what it said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import Violation
from tests.execute.bench import Bench

PROGRAMS = Path(__file__).parents[2] / ".servers" / "bin"
HEAD = """suite hints "Hints" { trials TRIALS; seed 1 }
server one { stdio SERVER; timeout 30s; trust hints }
model canned { script "canned.yaml" }
"""


MAKE = "import duckdb; duckdb.connect('notes.duckdb').execute('create table notes as select 42 as n')"


def violations(
    bench: Bench, server: str, tasks: dict[str, list[dict[str, Any]]], steps: str = ""
) -> dict[str, list[Violation]]:
    """Runs a task for each list of calls; the violations of each."""
    program = server.split('"')[1]
    assert (PROGRAMS / program).exists(), f"{program} is not installed: run `make servers`"
    body = "".join(f'task {name} {{ prompt "x"; environment desk; grade contains "done" }}\n' for name in tasks)
    scripts = {name: [*calls, {"reply": "done"}] for name, calls in tasks.items()}
    bench.spec(f"environment desk {{ {steps} }}\n{body}", scripts, head=HEAD.replace("SERVER", server))
    bench.variables = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    done = bench.run()
    assert done.code in (0, 1), done.out + done.err
    records = bench.records
    assert all(one.error is None for name in tasks for one in records[f"{name}#1"].calls), records
    return {name: list(records[f"{name}#1"].violations) for name in tasks}


def query(sql: str) -> dict[str, Any]:
    return {"call": {"tool": "execute_query", "arguments": {"sql": sql}}}


def test_a_read_only_query_that_writes_a_file(bench: Bench) -> None:
    python = PROGRAMS.parent / "duckdb" / "bin" / "python"
    found = violations(
        bench,
        '"mcp-server-motherduck" "--db-path" "{{ workdir }}/notes.duckdb"',
        {
            "copies": [query("COPY (SELECT * FROM notes) TO '{{ facts.workdir }}/out.csv'")],
            "reads": [query("SELECT n FROM notes")],
        },
        f'run "{python}" "-c" "{MAKE}"',
    )
    (violation,) = found["copies"]
    assert (violation.kind, violation.severity, violation.stages[-1]) == ("write_outside_set", "major", "effect")
    assert "out.csv created" in violation.detail and "its hint" in violation.detail
    assert found["reads"] == []


def thought(text: str) -> dict[str, Any]:
    arguments = {"thought": text, "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 2}
    return {"call": {"tool": "sequentialthinking", "arguments": arguments}}


def test_a_read_only_tool_that_counts_what_it_was_told(bench: Bench) -> None:
    found = violations(bench, '"mcp-server-sequential-thinking"', {"thinks": [thought("first")]})
    (violation,) = found["thinks"]
    assert (violation.kind, violation.severity, violation.stages[-1]) == ("hidden_state", "major", "effect")


@pytest.mark.parametrize("program", ["mcp-server-everything"])
def test_a_true_hint_is_no_violation(bench: Bench, program: str) -> None:
    echo = {"call": {"tool": "echo", "arguments": {"message": "hi"}}}
    assert violations(bench, f'"{program}"', {"echoes": [echo, echo]}) == {"echoes": []}
