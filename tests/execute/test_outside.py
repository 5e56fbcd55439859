"""A trial whose agent is a foreign host: same checks, same faults, same records and verdicts as with the host in process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpeval_dsl.agents.model import Answer, HostResult, Usage
from mcpeval_dsl.execute import outside, trial
from mcpeval_dsl.execute.assignment import shown_tools
from tests.execute.bench import Bench, outcome

ADD: tuple[str, dict[str, Any]] = ("add_thing", {"name": "globe"})
LIST: tuple[str, dict[str, Any]] = ("list_things", {})


def run_outside(bench: Bench, place: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """`mcpe run` with an agent that starts `mcpe gateway`, makes these calls, and says the text of the last answer."""
    results: list[Any] = []

    async def agent(context: Any, progress: Any, world: Any) -> None:
        tools = [
            (t.server, t.name, f"mcp__{t.server}__{t.name}")
            for t in shown_tools(progress.task, world.tools(), world.names.scope())
        ]
        folder = place / progress.id.replace("#", "-")
        folder.mkdir()
        handed = outside.hand_over(world, progress.task, tools, folder, trial=progress.id, seed=progress.seed)
        words = [sys.executable, "-m", "mcpeval_dsl.cli.main", *handed.words("mcpe")[1:]]
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        said = ""
        with Path(os.devnull).open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors), cache=None) as client:
                for name, arguments in calls:
                    results.append(await client.call_tool(f"mcp__shelf__{name}", arguments))
                    said = results[-1].content[0].text
        outside.take_back(world, handed)
        assert not handed.control.exists()
        progress.host = HostResult(Answer("given", said), "answered", (), Usage())

    with mock.patch.object(trial, "_agent", agent):
        done = bench.run()
    assert "Traceback" not in done.err
    assert bench.left_over() == [] and bench.processes() == []
    return results


def test_permissions_state_and_verdicts_hold_over_the_proxy(bench: Bench, tmp_path: Path) -> None:
    body = """task adds {
  prompt "x"
  may add_thing(name == "globe")
  grade state shelf.list_things() $.things has "globe"
  grade calls add_thing(name: "globe")
}"""
    bench.spec(body)
    wrong: tuple[str, dict[str, Any]] = ("add_thing", {"name": "atlas"})
    results = run_outside(bench, tmp_path, [LIST, ADD, wrong, ("wipe_all", {})])
    assert [result.is_error for result in results] == [False, False, True, True]
    record = bench.records["adds#1"]
    assert outcome(record) == "pass" and record.outcome is not None and not record.outcome.success
    agent = [call for call in record.calls if call.actor == "agent"]
    assert [call.permission.decision for call in agent] == ["allowed", "allowed", "denied", "denied"]
    assert len({call.id for call in record.calls}) == len(record.calls)
    by_id = {call.id: call.tool for call in record.calls}
    assert [(by_id[each.call or ""], each.severity) for each in record.violations] == [
        ("add_thing", "major"),
        ("wipe_all", "critical"),
    ]
    assert record.counts.made == 4 and record.counts.charged == 2 and record.counts.denied == 2


@pytest.mark.parametrize("budget", ["calls <= 1 hard 2", "calls <= 5"])
def test_the_hard_budget_holds_over_the_proxy(bench: Bench, tmp_path: Path, budget: str) -> None:
    bench.spec(f'task reads {{ prompt "x"; budget {budget}; grade contains "lamp" }}')
    results = run_outside(bench, tmp_path, [LIST, LIST, LIST])
    assert [result.is_error for result in results] == [False, False, "hard" in budget]


def test_faults_hold_over_the_proxy(bench: Bench, tmp_path: Path) -> None:
    body = """task broken {
  prompt "x"
  fault shelf.list_things { on call 1; error "try again later" }
  expect recovery
  grade contains "lamp"
}"""
    bench.spec(body)
    results = run_outside(bench, tmp_path, [LIST, LIST])
    assert [result.is_error for result in results] == [True, False]
    record = bench.records["broken#1"]
    assert outcome(record) == "pass" and record.counts.injected == 1
    assert "fault_not_reached" not in record.flags and not any("not reached" in text for text in record.findings)
