"""Whole runs over a matrix with arms: who has which tools, and that everything else stays the same."""

from __future__ import annotations

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

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
