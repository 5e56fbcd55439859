"""Dialogues with scripted turns through whole runs: what is said, shown, read and graded, turn by turn."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, Ended, outcome

TWO = """
task tidy {
  kind write
  may  remove_thing
  hide remove_thing
  dialogue {
    turn {
      user   "What is on the shelf?"
      expect list_things
      grade  contains "lamp", "vase"
      grade  calls none(remove_thing)
      grade  state shelf.list_things() $.things has "vase"
    }
    turn {
      user  "Take the vase away."
      show  remove_thing
      grade calls remove_thing(name: "vase")
      grade state shelf.list_things() $.things == ["lamp"]
      grade unchanged file("{{ workdir }}/other.txt")
    }
    every turn { grade not contains "sorry" }
  }
  grade contains "gone"
}
"""
READS: list[Any] = [
    {"expect": {"user_contains": "What is"}, "call": "list_things"},
    {"reply": "A lamp and a vase."},
]
REMOVES: list[Any] = [
    {"expect": {"user_contains": "Take"}, "call": {"tool": "remove_thing", "arguments": {"name": "vase"}}},
    {"reply": "It is gone."},
]


def talk(bench: Bench, body: str, script: list[Any], **more: Any) -> tuple[TrialRecord, Ended]:
    """The only trial of the task `tidy`."""
    bench.spec(body, {"*": script}, **more)
    bench.write("specs/other.txt", "same")
    done = bench.run()
    assert "tidy#1" in bench.records, done.err + done.out
    return bench.records["tidy#1"], done


def verdicts(record: TrialRecord) -> list[tuple[int | None, str, str]]:
    return [(v.turn, v.kind, v.verdict) for v in record.verdicts]


def test_each_turn_is_graded_by_what_it_says_calls_and_leaves(bench: Bench) -> None:
    record, done = talk(bench, TWO, [*READS, *REMOVES])
    assert outcome(record) == "pass", (record.verdicts, record.trouble, record.findings)
    assert [(e.number, e.said, e.by, e.first, e.last) for e in record.exchanges] == [
        (1, "What is on the shelf?", "script", 1, 2),
        (2, "Take the vase away.", "script", 3, 4),
    ]
    assert [e.answer.text for e in record.exchanges] == ["A lamp and a vase.", "It is gone."]
    assert record.exchanges[1].shown == ("remove_thing",)
    assert record.user is not None and record.user.ended == "script"
    assert record.violations == ()
    assert done.code == 0
