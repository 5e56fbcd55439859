"""Dialogues with scripted turns through whole runs: what is said, shown, read and graded, turn by turn."""

from __future__ import annotations

from typing import Any

import pytest

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
      expect remove_thing
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


def test_a_turn_in_which_something_is_wrong_fails_the_trial(bench: Bench) -> None:
    early = {"call": {"tool": "add_thing", "arguments": {"name": "cup"}}}
    body = TWO.replace("may  remove_thing", "may  remove_thing, add_thing").replace(
        "none(remove_thing)", "none(add_thing)"
    )
    record, _ = talk(bench, body, [READS[0], early, READS[1], *REMOVES])
    assert outcome(record) == "wrong_answer"
    assert [(v.turn, v.kind) for v in record.verdicts if v.verdict == "no"] == [(1, "calls"), (2, "state")]


def test_tools_are_withheld_until_their_turn(bench: Bench) -> None:
    early = {"expect": {"user_contains": "What is"}, "call": {"tool": "remove_thing", "arguments": {"name": "vase"}}}
    record, _ = talk(bench, TWO, [early, READS[1] | {"expect": {}}, *REMOVES])
    assert record.trouble is not None and "'remove_thing' is not on offer" in record.trouble.message
    assert [call for call in record.calls if call.actor == "agent"] == []


def test_turns_that_are_not_come_to_are_no(bench: Bench) -> None:
    cut = {"stop": "max_tokens", "text": "A lamp and a v"}
    record, _ = talk(bench, TWO, [READS[0], cut])
    assert outcome(record) == "wrong_answer" and record.termination == "max_tokens"
    assert {v.verdict for v in record.verdicts if v.turn == 2} == {"no"}
    assert {v.reason for v in record.verdicts if v.turn == 2} == {"the dialogue ended before this turn: max_tokens"}
    assert record.user is not None and record.user.ended == ""


def test_trouble_with_the_agents_api_in_a_later_turn_is_untestable(bench: Bench) -> None:
    failing = {"expect": {"user_contains": "Take"}, "error": {"kind": "overloaded", "status": 529}}
    record, done = talk(bench, TWO, [*READS, failing])
    assert outcome(record) == "untestable" and done.code == 3
    assert {v.verdict for v in record.verdicts if v.turn == 2 and v.reads != "state"} == {"missing"}
    assert {v.verdict for v in record.verdicts if v.turn == 1} == {"yes"}


def test_an_agent_that_declines_one_turn_hears_the_next(bench: Bench) -> None:
    body = TWO.replace("expect list_things", "expect refusal").replace('grade  contains "lamp", "vase"', "")
    record, _ = talk(bench, body, [{"reply": "I must decline to look."}, *REMOVES])
    assert [e.answer.form for e in record.exchanges] == ["refusal", "given"]
    assert outcome(record) == "pass", record.verdicts


def test_evidence_may_come_from_an_earlier_turn_and_the_users_words(bench: Bench) -> None:
    body = TWO.replace('grade calls remove_thing(name: "vase")', "grade evidence")
    told = {"reply": 'Of the "lamp" and the "vase" the "vase" is gone.'}
    record, _ = talk(bench, body, [*READS, REMOVES[0], told])
    assert outcome(record) == "pass", record.verdicts
    made_up = {"reply": 'The "vase" is gone, and the "globe" too.'}
    record, _ = talk(bench, body, [*READS, REMOVES[0], made_up])
    assert [(v.turn, v.verdict) for v in record.verdicts if v.kind == "evidence"] == [(2, "no")]


BUDGETS = {
    "calls": ("budget calls <= 1 per turn", [1, 2], "too_many_calls", ()),
    "calls of all": ("budget calls <= 3", [1, 2], "pass", ()),
    "model turns": ("budget turns <= 2 per turn", [1, 2], "pass", ("turns per turn",)),
    "model turns of all": ("budget turns <= 5", [1, 2], "pass", ()),
    "enough": ("budget calls <= 2 per turn hard 4, turns <= 3 per turn", [1, 2], "pass", ()),
}


@pytest.mark.parametrize("case", BUDGETS.values(), ids=BUDGETS.keys())
def test_budgets_of_the_trial_and_of_each_turn(bench: Bench, case: tuple[str, list[int], str, tuple[str, ...]]) -> None:
    budget, charged, expected, over = case
    script = [*READS, REMOVES[0], {"call": "list_things"}, REMOVES[1]]
    record, _ = talk(bench, TWO.replace("kind write", budget), script)
    assert outcome(record) == expected, (record.verdicts, record.budget)
    assert record.budget.over == over
    assert list(record.budget.turn_calls) in (charged, [])


HARD = {"calls": "calls <= 1 per turn hard 1", "turns": "turns <= 1 per turn hard 1"}


@pytest.mark.parametrize("name", HARD)
def test_a_hard_budget_per_turn_stops_the_agent(bench: Bench, name: str) -> None:
    script = [READS[0], {"call": "list_things"}] if name == "calls" else READS[:1]
    record, _ = talk(bench, TWO.replace("kind write", f"budget {HARD[name]}"), script)
    assert record.termination == f"hard_budget:{name}"
    assert record.exchanges[-1].termination == f"hard_budget:{name}"


def test_a_hard_budget_per_turn_begins_anew_with_each_turn(bench: Bench) -> None:
    record, _ = talk(bench, TWO.replace("kind write", "budget calls <= 2 per turn hard 2"), [*READS, *REMOVES])
    assert record.termination == "answered" and record.counts.charged == 2
    assert outcome(record) == "pass"


def test_without_a_dialogue_the_trial_is_one_turn(bench: Bench) -> None:
    body = 'task tidy { prompt "x"; budget calls <= 1 per turn; grade contains "done" }\n'
    record, _ = talk(bench, body, [{"call": "list_things"}, {"call": "list_things"}, {"reply": "done"}])
    assert outcome(record) == "too_many_calls" and record.exchanges == ()


@pytest.mark.parametrize(("early", "origin"), [(True, "invented"), (False, "prompt")])
def test_what_a_user_says_explains_later_calls_alone(bench: Bench, early: bool, origin: str) -> None:
    body = """
task tidy {
  dialogue { turn { user "Look for trouble." }; turn { user "I meant KEY-4711." } }
  grade contains "done"
}
"""
    wrong: dict[str, Any] = {"call": {"tool": "get_thing", "arguments": {"number": "KEY-4711"}}}
    calls = [wrong] if early else []
    script = [*calls, {"reply": "Hm."}, {"expect": {"user_contains": "KEY"}, **wrong}, {"reply": "done"}]
    record, _ = talk(bench, body, script)
    assert next(trace.origin for trace in record.arguments if trace.value == "KEY-4711") == origin


def test_a_replay_goes_through_the_same_turns(bench: Bench) -> None:
    record, _ = talk(bench, TWO, [*READS, *REMOVES])
    again = bench.mcpe("replay", record.id)
    assert again.code == 0 and again.out.count("same ") == 2, again.out + again.err
    bench.mcpe("score")
    assert bench.records["tidy#1"].verdicts == record.verdicts


def test_a_judge_is_shown_the_conversation(bench: Bench) -> None:
    from mcpeval_dsl.grade.quoting import shown_to_judge, told
    from mcpeval_dsl.grade.turns import turn_of

    record, _ = talk(bench, TWO, [*READS, *REMOVES])
    second = turn_of(record, record.exchanges[1])
    assert told(second) == "USER: What is on the shelf?\n\nAGENT: A lamp and a vase.\n\nUSER: Take the vase away."
    whole = shown_to_judge(record, whole=True)
    assert whole.index("USER: What") < whole.index("AGENT: A lamp") < whole.index("USER: Take") < whole.index("FINAL")


REFERENCES = """
task tidy {
  kind write
  may  remove_thing, add_thing
  dialogue {
    turn {
      user      "Add a cup."
      reference { shelf.add_thing(name: "cup") }
      grade     same_state { view shelf.list_things() }
      grade     results has reference
    }
    turn {
      user      "Take the vase away."
      reference { shelf.remove_thing(name: "vase") }
      grade     same_state { view shelf.list_things() }
      grade     unchanged file("{{ workdir }}/note.txt")
    }
  }
  setup { write "{{ workdir }}/note.txt" "kept" }
  grade same_state { view shelf.list_things() }
}
"""
ADDS: list[Any] = [{"call": {"tool": "add_thing", "arguments": {"name": "cup"}}}, {"reply": "Added."}]


def test_a_turn_is_compared_with_the_references_up_to_it(bench: Bench) -> None:
    record, _ = talk(bench, REFERENCES, [*ADDS, *REMOVES])
    assert outcome(record) == "pass", record.verdicts
    assert [call.id.split("/")[0] for call in record.calls if call.actor == "reference"] == [
        *("reference", "reference", "turn:1:reference", "turn:2:reference")
    ]


def test_what_is_done_a_turn_late_is_not_the_same_state(bench: Bench) -> None:
    late = [{"reply": "Later."}, {**REMOVES[0], "expect": {"user_contains": "Take"}}, *ADDS]
    record, _ = talk(bench, REFERENCES, late)
    assert [(v.turn, v.kind) for v in record.verdicts if v.verdict == "no"] == [(1, "same_state"), (1, "results")]


def test_a_state_may_be_read_in_the_agents_own_session(bench: Bench) -> None:
    body = TWO.replace(
        'state shelf.list_things() $.things has "vase"',
        'state shelf.list_things() $.things has "vase" { session same }',
    )
    record, _ = talk(bench, body, [*READS, *REMOVES])
    assert outcome(record) == "pass", record.verdicts
    reads = [(call.tool, call.session) for call in record.calls if call.actor == "grader"]
    assert len(reads) == 2


def test_what_is_read_between_turns_leaves_the_agents_session_alone(bench: Bench) -> None:
    places: list[Any] = [{"call": "get_place"}, {"reply": "{{ last.text }}"}]
    body = """
task tidy {
  dialogue {
    turn { user "Where?"; grade state shelf.list_things() $.things has "vase" }
    turn { user "And now?"; grade state shelf.list_things() $.things has "vase" }
  }
}
"""
    record, _ = talk(bench, body, [*places, {"expect": {"user_contains": "And"}, **places[0]}, places[1]])
    assert outcome(record) == "pass", record.verdicts
    first, second = (call.structured["pid"] for call in record.calls if call.actor == "agent")
    assert first == second
