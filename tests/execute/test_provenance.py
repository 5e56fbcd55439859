"""Whole runs with scripted agents: where a failing call's value came from, and whether the server owes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

SERVER = Path(__file__).parent / "servers" / "library.py"
HEAD = """suite books "Books" { trials 1; seed 3; defaults { environment desk } }
server library { stdio "python" "library.py"; timeout 3s }
annotations library { readonly list_*, get_*; destructive withdraw_book }
model canned { script "canned.yaml" }
"""
BODY = """
harvest third  = library.list_books() { id = $.books[2].book_id }
harvest second = library.list_books() { id = $.books[1].book_id }
task told      { prompt "Read {{ third.id }}."; grade contains "done" }
task literal   { prompt "Read BK-99999, please."; grade contains "nothing of it" }
task asked_for { prompt "Read BK-99999, please."; grade contains "done" }
task listed    { prompt "Read the third."; grade contains "done" }
task made_up   { prompt "Read the fourth."; grade contains "done" }
task shelf     { prompt "Look at shelf S-7001."; grade contains "done" }
task taken     { prompt "Withdraw {{ second.id }}."; may withdraw_book; grade contains "done" }
task fine      { prompt "Read {{ second.id }}."; grade contains "done" }
"""
GATE = "gate { require task_success >= 100% }\n"
DONE = {"reply": "done"}


def call(tool: str, **arguments: str) -> dict[str, Any]:
    return {"call": {"tool": tool, "arguments": arguments}}


SCRIPTS = {
    "told": [call("get_book", book_id="BK-41003"), DONE],
    "literal": [call("get_book", book_id="BK-99999"), DONE],
    "asked_for": [call("get_book", book_id="BK-99999"), DONE],
    "listed": [call("list_books"), call("get_book", book_id="BK-41003"), DONE],
    "made_up": [call("list_books"), call("get_book", book_id="BK-41004"), DONE],
    "shelf": [call("get_shelf", shelf_id="S-7001"), DONE],
    "taken": [call("withdraw_book", book_id="BK-41002"), call("get_book", book_id="BK-41002"), DONE],
    "fine": [call("get_book", book_id="BK-41002"), DONE],
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("books") / "project")
    bench.spec("environment desk { }\n" + BODY + GATE, SCRIPTS, head=HEAD)
    bench.write("specs/library.py", SERVER.read_text(encoding="utf-8"))
    done = bench.run("--jobs", "4")
    assert done.code == 1, done.out + done.err
    return bench


def seen(record: TrialRecord) -> list[tuple[str, str, str, str]]:
    return [(trace.value, trace.verdict, trace.origin, trace.vouch) for trace in record.arguments]


def leads(record: TrialRecord) -> list[tuple[str, str]]:
    return [(lead.kind, lead.strength) for lead in record.leads]


def errors(record: TrialRecord) -> int:
    assert record.outcome is not None
    return record.outcome.agent_errors


@pytest.mark.parametrize(
    ("task", "trace", "found", "wrong"),
    [
        ("told", ("BK-41003", "known", "harvest", "strong"), [("not_found of a vouched value", "lead")], 0),
        ("listed", ("BK-41003", "known", "result", "strong"), [("not_found of a vouched value", "lead")], 0),
        ("made_up", ("BK-41004", "invented", "invented", "none"), [], 1),
        ("literal", ("BK-99999", "known", "prompt", "none"), [], 0),
        ("shelf", ("S-7001", "known", "prompt", "none"), [("timeout", "to_replay")], 0),
        ("taken", ("BK-41002", "known", "harvest", "hint"), [], 0),
    ],
)
def test_where_it_came_from(
    ran: Bench, task: str, trace: tuple[str, str, str, str], found: list[tuple[str, str]], wrong: int
) -> None:
    record = ran.records[f"{task}#1"]
    assert seen(record) == [trace]
    assert leads(record) == found
    assert errors(record) == wrong


def test_nothing_is_said_of_calls_that_succeed(ran: Bench) -> None:
    record = ran.records["fine#1"]
    assert (record.arguments, record.leads, outcome(record)) == ((), (), "pass")


def test_the_part_of_the_prompt_that_a_harvest_filled_is_on_record(ran: Bench) -> None:
    record = ran.records["told#1"]
    assert [(record.prompt[span.start : span.end], span.name) for span in record.prompt_spans] == [
        ("BK-41003", "third.id")
    ]
    assert ran.records["literal#1"].prompt_spans == ()


def test_a_literal_that_is_not_there_is_a_finding_about_a_task_that_fails(ran: Bench) -> None:
    card = json.loads(ran.scorecard)
    about = [row for row in card["findings"] if "look at the task" in row["text"]]
    assert [(row["text"], row["trials"], row["first_trial"]) for row in about] == [
        ("the prompt names BK-99999, which library.get_book does not find: look at the task", 1, "literal@canned#1")
    ]


def test_only_leads_count_before_a_replay(ran: Bench) -> None:
    rows = json.loads(ran.scorecard)["leads"]
    assert [(row["tool"], row["strength"]) for row in rows] == [("get_book", "lead"), ("get_shelf", "to_replay")]


def test_view_marks_the_argument(ran: Bench) -> None:
    told, made_up = ran.mcpe("view", "told@canned#1").out, ran.mcpe("view", "made_up@canned#1").out
    assert "· BK-41003: harvest third, named by list_books (" in told
    assert "· BK-41004: invented\n" in made_up


def test_grading_again_says_the_same(ran: Bench) -> None:
    before = {name: record.arguments for name, record in ran.records.items()}
    card = ran.scorecard
    assert ran.mcpe("score").code == 1
    assert {name: record.arguments for name, record in ran.records.items()} == before
    assert ran.scorecard == card
