"""Train and held-out in whole runs: scored apart, counted as looks, and without a word in the findings."""

from __future__ import annotations

import json

from mcpeval_dsl.records.folder import runs
from tests.execute.bench import Bench

BODY = """
task seen "In the open" {
  prompt "Which thing stands first?"
  grade exact "lamp"
}
task kept "Held out" {
  prompt "Which thing stands last?"
  split heldout
  grade exact "vase"
}
"""
SCRIPTS = {
    "seen": [{"call": {"tool": "get_thing", "arguments": {}}}, {"reply": "lamp"}],
    "kept": [{"call": {"tool": "get_thing", "arguments": {}}}, {"reply": "lamp"}],
}


def test_each_run_that_shows_held_out_tasks_is_a_look(bench: Bench) -> None:
    bench.spec(BODY, SCRIPTS, trials=5)
    first = bench.run("--heldout")
    assert "held-out tasks: look 1 (the first run of this project that shows them)" in first.out
    card = json.loads(bench.scorecard)
    assert card["heldout_look"] == 1
    assert [(cell["split"], cell["counts"]["passed"]) for cell in card["cells"]] == [("train", 5), ("heldout", 0)]
    assert "held-out tasks: look 1 (" in bench.mcpe("score").out
    assert "held-out tasks: look 2 (each makes them less held out)" in bench.run("--heldout", "--fresh").out
    new, old = (run.path.name for run in runs(bench.root))
    compared = bench.mcpe("compare", new, old)
    assert "held-out tasks: look 2 (each makes them less held out)" in compared.out
    assert (
        json.loads(bench.mcpe("compare", new, old, "--format", "json").out.splitlines()[1])["comparison"][
            "heldout_looks"
        ]
        == 2
    )
    open_only = bench.run("--fresh")
    assert "held-out" not in open_only.out and json.loads(bench.scorecard)["heldout_look"] is None
    assert "held-out" not in bench.mcpe("compare", runs(bench.root)[0].path.name, old).out


def test_findings_are_shown_with_calls_and_what_to_change(bench: Bench) -> None:
    body = """
task wrong "Says another" {
  prompt "Which thing stands first?"
  expect list_things
  grade exact "lamp"
}
task right "Says it" {
  prompt "Which thing stands last?"
  grade exact "vase"
}
task hidden "The same, held out" {
  prompt "Which thing stands first?"
  split heldout
  expect list_things
  grade exact "lamp"
}
"""
    twice = [
        {"call": {"tool": "get_thing", "arguments": {"number": 0}}},
        {"call": {"tool": "get_thing", "arguments": {"number": 0}}},
        {"reply": "I have added it."},
    ]
    bench.spec(body, {"wrong": twice, "hidden": twice, "right": [{"reply": "vase"}]}, trials=5)
    ended = bench.run("--heldout")
    rows = {row["kind"]: row for row in json.loads(bench.scorecard)["findings"]}
    assert {"repeated_call", "not_reached", "wrong_all_the_same", "claimed_action", "never_passed", "saturated"} <= set(
        rows
    )
    assert rows["repeated_call"]["strength"] == "finding" and rows["repeated_call"]["trials"] == 5
    assert rows["repeated_call"]["evidence"][0] == {"trial": "wrong@canned#1", "calls": ["c1", "c2"]}
    assert "see wrong@canned#1 (c1, c2), wrong@canned#2 (c1, c2)" in ended.out
    assert "change: write `purpose regression` in task right" in ended.out
    assert not any("hidden" in json.dumps(row) for row in rows.values())


def test_a_trial_alone_is_a_lead(bench: Bench) -> None:
    again = [
        {"call": {"tool": "get_error", "arguments": {}}},
        {"call": {"tool": "get_error", "arguments": {}}},
        {"reply": "lamp"},
    ]
    bench.spec('task t "T" { prompt "?"; grade exact "lamp" }', {"t": again})
    assert "was called again with the same arguments (lead, 1 trial)" in " ".join(bench.run().out.split())
