"""Whole runs over a matrix with arms: who has which tools, and that everything else stays the same."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from mcpeval_dsl.records.folder import runs
from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome
from tests.runs.test_interruptions import end, until

ASK = """
harvest things = shelf.list_things() { first = $.things[0] }
task count { prompt "What is the first thing on the shelf?"; grade contains "lamp" }
"""
BOTH = [
    {"when": "'list_things' in tools", "call": "list_things"},
    {"reply": "{{ results[0].text if results else 'I cannot know.' }}"},
]
ARMS = """
arm mcp { servers shelf }
arm nothing { }
"""


def by_cell(bench: Bench) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = {}
    for record in bench.reader.records():
        found.setdefault(record.cell, []).append(record)
    return found


def test_two_arms_of_two_models_in_two_hosts(bench: Bench) -> None:
    bench.spec(
        ASK + ARMS + 'model other { script "canned.yaml" }\nhost plain { }\nhost marked { tool_prefix "x_" }\n',
        {"*": BOTH},
        trials=2,
    )
    done = bench.run()
    assert done.code == 0, done.err
    cells = by_cell(bench)
    assert len(cells) == 8 and all(len(records) == 2 for records in cells.values())
    for name, records in cells.items():
        for record in records:
            assert record.arm == ("mcp" if "mcp" in name else "nothing")
            assert outcome(record) == ("pass" if record.arm == "mcp" else "wrong_answer")
            assert record.counts.made == (record.arm == "mcp")
            assert bool(record.tools) == (record.arm == "mcp")


def test_an_arm_without_a_server_keeps_graders_and_set_up_connected(bench: Bench) -> None:
    task = """
task add {
  prompt "Put a vase on the shelf."
  setup { shelf.add_thing(name: "cup") }
  may add_thing
  distract { near list_things count 2 }
  grade state shelf.list_things() $.things has "cup"
}
"""
    bench.spec(task + ARMS, {"*": [{"reply": "done"}]})
    done = bench.run()
    assert done.code == 0, done.err
    cells = by_cell(bench)
    (without,), (having,) = cells["canned+nothing"], cells["canned+mcp"]
    assert [outcome(without), outcome(having)] == ["pass", "pass"]
    # The set-up opened a session in this very trial, and yet nothing of the server reaches the agent.
    assert without.tools == () and "Instructions of the server" not in without.system
    assert {tool.name for tool in having.tools if not tool.distractor} >= {"list_things", "add_thing"}
    assert {call.actor for call in without.calls} == {"setup", "grader"}


LIFT = "lift mcp over nothing by model\n"


def scorecard(bench: Bench) -> dict[str, Any]:
    return dict(json.loads(bench.scorecard))


def test_lift_of_a_server_over_no_tools_is_measured_and_warned_of(bench: Bench) -> None:
    tasks = "".join(f'task t{n} {{ prompt "x"; grade contains "lamp" }}\n' for n in range(4))
    bench.spec(tasks + ARMS + LIFT, {"*": BOTH})
    checked = bench.mcpe("compile", "specs")
    assert "MCPE352" in checked.err and checked.code == 0
    done = bench.run()
    assert done.code == 0, done.err
    (comparison, *_) = scorecard(bench)["comparisons"]
    assert (comparison["kind"], comparison["treatment"], comparison["baseline"]) == ("lift", "mcp", "nothing")
    (row,) = [row for row in comparison["rows"] if row["agent"] == "canned" and not row["group"]]
    assert row["difference"]["value"] == 1.0
    assert {arm["cell"]: arm["mcp_use"] for arm in comparison["arms"]} == {"canned+mcp": 1.0, "canned+nothing": 0.0}


def test_an_agent_that_never_calls_has_a_use_of_nothing(bench: Bench) -> None:
    bench.spec(ASK + ARMS + LIFT, {"*": [{"reply": "I know it: a lamp."}]}, trials=2)
    assert bench.run().code == 0
    records = [record for records in by_cell(bench).values() for record in records if record.arm == "mcp"]
    assert {record.counts.served for record in records} == {0} and {outcome(record) for record in records} == {"pass"}


def test_cells_are_selected_by_model_host_and_arm(bench: Bench) -> None:
    more = 'model other { script "canned.yaml" }\nhost plain { }\nhost marked { tool_prefix "x_" }\n'
    bench.spec(ASK + ARMS + more, {"*": BOTH})
    assert bench.run("--select", "model:other,arm:mcp").code == 0
    assert set(by_cell(bench)) == {"other+plain+mcp", "other+marked+mcp"}
    assert bench.run("--select", "arm:nothing,host:plain", "--exclude", "model:other").code == 0
    assert set(by_cell(bench)) == {"canned+plain+nothing"}


def test_cells_are_left_out_and_added(bench: Bench) -> None:
    matrix = """
model other { script "canned.yaml" }
matrix {
  model = [canned, other]
  arm   = [mcp, nothing]
  size  = ["1 x 2", "1-x-2"]
  exclude model == other, arm == nothing
  exclude size == "1-x-2", model == other
  include model == other, arm == mcp, size == "big"
}
task sized { prompt "How large is {{ size }}?"; grade contains size }
"""
    bench.spec(ARMS + matrix, {"*": [{"reply": "It is {{ capture(prompt, 'large is (.*)[?]') }}."}]})
    done = bench.run()
    assert done.code == 0, done.err
    cells = by_cell(bench)
    # Two sizes that look alike in a name stay two cells.
    assert set(cells) == {
        *("canned+mcp+1-x-2", "canned+mcp+1-x-2~2", "canned+nothing+1-x-2", "canned+nothing+1-x-2~2"),
        *("other+mcp+1-x-2", "other+mcp+big"),
    }
    assert {outcome(record) for records in cells.values() for record in records} == {"pass"}
    assert cells["other+mcp+big"][0].prompt == "How large is big?"


def test_rows_of_a_harvest_in_every_cell(bench: Bench) -> None:
    loop = """
harvest things = shelf.list_things() { all = $.things }
for thing in things.all limit 3 { task named { prompt "Is there a {{ thing }}?"; grade contains thing } }
"""
    bench.spec(loop + ARMS, {"*": [{"reply": "Yes, a {{ capture(prompt, 'a ([a-z]+)') }}."}]})
    done = bench.run()
    assert done.code == 0, done.err
    records = [record for records in by_cell(bench).values() for record in records]
    # Two rows came, the third is not applicable in either arm; the harvest is read once for both.
    assert sorted((r.arm, r.row, r.not_applicable) for r in records) == [
        (arm, row, row == 2) for arm in ("mcp", "nothing") for row in (0, 1, 2)
    ]
    assert len(list(bench.reader.harvests())) == 1


def test_the_graph_and_the_ceilings_count_every_cell(bench: Bench) -> None:
    bench.spec(ASK.replace("grade", "budget calls <= 2 hard 5; grade") + ARMS + "host a { }\nhost b { }\n", trials=3)
    graph = bench.mcpe("graph", "specs").out
    assert all(f"count@canned+{host}+{arm}" in graph for host in "ab" for arm in ("mcp", "nothing"))
    plan = bench.mcpe("compile", "specs", "--format", "json")
    (made,) = json.loads((bench.root / ".mcpe" / "plan.json").read_text())["plans"]
    assert plan.code == 0 and made["counts"]["cells"] == 4 and made["counts"]["trials"] == 12
    assert made["ceilings"]["calls"]["value"] == 60


def test_a_run_of_many_cells_is_killed_and_continued(bench: Bench, tmp_path: Path) -> None:
    slow = [{**step, "delay": 0.2} for step in BOTH]
    bench.spec(ASK + ARMS + 'model other { script "canned.yaml" }\n', {"*": slow}, trials=2)
    assert bench.run().code == 0
    whole = bench.scorecard
    runs(bench.root)[0].path.rename(tmp_path / "put-aside")
    process = bench.start("run", "specs", "--format", "json", "--jobs", "2")
    until(process, "trialdone", 3)
    os.killpg(process.pid, signal.SIGKILL)
    end(process)
    again = bench.run()
    assert "of 8 trials to run" in again.err and "8 of 8 trials" not in again.err
    assert bench.scorecard == whole


def test_an_axis_gives_each_cell_its_budget(bench: Bench) -> None:
    task = """
task wander { prompt "x"; budget calls <= few hard most; grade contains "lamp" }
matrix { few = [1, 3]; most = [2, 9] }
"""
    steps = [{"call": "list_things"}, {"call": {"tool": "get_thing", "arguments": {"number": 0}}}, {"reply": "lamp"}]
    bench.spec(task, {"*": [steps[0], steps[1], {**steps[1], "when": "tools | length > 0"}, steps[2]]})
    done = bench.run()
    assert done.code == 0, done.err
    worth = {cell: (outcome(record), record.termination) for cell, (record,) in by_cell(bench).items()}
    assert worth == {
        "canned+1+2": ("too_many_calls", "hard_budget:calls"),
        "canned+1+9": ("too_many_calls", "answered"),
        "canned+3+2": ("too_many_calls", "hard_budget:calls"),
        "canned+3+9": ("pass", "answered"),
    }
    (plan,) = json.loads((runs(bench.root)[0].path / "plan.json").read_text())["plans"]
    assert plan["ceilings"]["calls"]["value"] == 2 + 9 + 2 + 9
