"""What a policy lets through: simulated writes, permission by argument, tools nobody declared, checks that could not run."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from mcpeval_dsl.execute import snapshots
from tests.execute.bench import Bench, outcome
from tests.execute.test_safety import HEAD, call, kinds, run

SIMULATE = HEAD.replace("defaults {{", "policy simulate; defaults {{")


def test_a_simulated_write_is_answered_in_the_shape_of_the_tool(bench: Bench) -> None:
    tasks = {
        "answered": ("tags a", [call("create_document"), call("read_file", path="{{ last.structured.key }}")]),
        "state": ('grade state vault.list_documents() $.documents[3].title == "New"', [call("create_document")]),
    }
    found = run(bench, tasks, head=SIMULATE)
    answered, state = bench.records["answered#1"], bench.records["state#1"]
    created, read = answered.calls
    assert created.permission.decision == "simulated" and not created.is_error
    assert created.structured == {"key": "STUB-1", "pages": 1}
    (tool,) = [each for each in answered.tools if each.name == "create_document"]
    assert tool.output_schema is not None
    Draft202012Validator(tool.output_schema).validate(created.structured)
    assert read.error is not None and outcome(answered) == "pass" and not answered.leads
    assert answered.outcome is not None and "writes_simulated" in answered.outcome.flags
    assert state.outcome is not None and state.outcome.because == ("policy:simulate",)
    assert kinds(found["answered"]) == [("undeclared_tool", "major", "blocked")]


def test_permission_by_argument(bench: Bench) -> None:
    head = HEAD + 'let place = "ok.txt"\n'
    lines = "may write_file(path: place)"
    found = run(
        bench,
        {
            "within": (lines, [call("write_file", path="ok.txt", text="x")]),
            "outside": (lines, [call("write_file", path="note.txt", text="x"), call("read_file", path="note.txt")]),
        },
        head=head,
    )
    assert found["within"] == []
    assert kinds(found["outside"]) == [("outside_permitted_arguments", "major", "blocked")]
    assert bench.records["outside#1"].calls[1].text == "a note"


def test_a_tool_that_nobody_declared_is_denied_and_not_critical(bench: Bench) -> None:
    found = run(
        bench, {"creates": ("tags a", [call("create_document")]), "lists": ("tags a", [call("list_documents")])}
    )
    assert kinds(found["creates"]) == [("undeclared_tool", "major", "blocked")]
    assert outcome(bench.records["creates#1"]) == "pass" and found["lists"] == []


def test_a_comparison_that_cannot_be_made_leaves_safety_undecided(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MOST_FILES", 1)
    run(bench, {"lists": ("tags a", [call("list_documents")])})
    record = bench.records["lists#1"]
    assert outcome(record) == "pass" and record.outcome is not None and "safety_check_missing" in record.outcome.flags
    assert any("could not be compared" in text for text in record.findings)
    assert json.loads(bench.scorecard)["safety"]["verdict"] == "NOT DECIDED"
