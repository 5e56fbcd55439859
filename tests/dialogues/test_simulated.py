"""Dialogues with a user that a model plays: what it says and does, when it stops, and what its own trouble is worth."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from mcpeval_dsl.records.folder import runs
from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import HEAD, Bench, Ended, outcome

TALKING = (
    HEAD
    + """
server drawer { stdio "python" "shelf.py" "--state" "drawer.json"; private }
model actor { script "actor.yaml" }
"""
)
TASK = """
task tidy {
  kind write
  may  add_thing
  FIRST
  dialogue {
    SCRIPTED
    user simulated actor {
      persona "keeper of the shelf, terse"
      goal    "have a cup on the shelf"
      knows   "the cup is red", "it stands in the drawer"
      unknown "who made the cup"
      rules   "answers one question at a time"
      never   "names a price"
      tools   drawer.list_things, drawer.remove_thing
      turns   <= 4
      STOP
    }
    every turn { grade not contains "sorry" }
  }
  grade state shelf.list_things() $.things has "red cup"
}
"""


def hears(text: str) -> dict[str, Any]:
    return {"expect": {"user_contains": text}}


ADD: dict[str, Any] = {"call": {"tool": "add_thing", "arguments": {"name": "red cup"}}}
AGENT: list[Any] = [
    {"expect": {"user_contains": "a cup"}, "reply": "Which cup?"},
    {"expect": {"user_contains": "red"}, **ADD},
    {"reply": "It is there."},
]
USER: list[Any] = [
    {"expect": {"prompt_contains": "Hello"}, "reply": "I want a cup on the shelf."},
    {"expect": {"user_contains": "Which cup?"}, "reply": "The red one."},
    {"expect": {"user_contains": "It is there."}, "reply": "Thank you. ###STOP###"},
]


def write(bench: Bench, agent: list[Any], user: list[Any], **says: str) -> None:
    body = TASK
    for name in ("FIRST", "SCRIPTED", "STOP"):
        body = body.replace(name, says.get(name.lower(), ""))
    bench.spec(body, {"*": agent}, head=TALKING)
    bench.write("specs/actor.yaml", yaml.safe_dump({"tasks": {"*": user}}))


def talk(bench: Bench, agent: list[Any], user: list[Any], **says: str) -> tuple[TrialRecord, Ended]:
    write(bench, agent, user, **says)
    done = bench.run()
    assert "tidy#1" in bench.records, done.err + done.out
    return bench.records["tidy#1"], done


def test_a_user_is_played_until_it_says_that_it_is_over(bench: Bench) -> None:
    record, done = talk(bench, AGENT, USER)
    assert done.code == 0 and outcome(record) == "pass", (record.trouble, record.verdicts)
    assert [(e.by, e.said) for e in record.exchanges] == [
        ("simulated", "I want a cup on the shelf."),
        ("simulated", "The red one."),
    ]
    assert record.user is not None
    assert (record.user.ended, record.user.closing, record.user.model) == ("says", "Thank you.", "actor")
    assert [(v.grader, v.turn) for v in record.verdicts if v.turn] == [("g1@1", 1), ("g1@2", 2)]
    assert record.user.usage.input_tokens > 0
    assert record.usage.output_tokens == sum(turn.usage.output_tokens for turn in record.turns)


def test_the_only_model_besides_the_user_is_the_agent(bench: Bench) -> None:
    write(bench, AGENT, USER)
    bench.run()
    assert {record.agent.model for record in bench.records.values()} == {"canned"}


def test_a_user_has_private_tools_that_are_no_calls_of_the_agent(bench: Bench) -> None:
    look = {"call": "list_things"}
    take = {"call": {"tool": "remove_thing", "arguments": {"name": "cup"}}}
    user = [look, take, *USER[:1], {**hears("Which"), **look}, USER[1] | {"expect": {}}, *USER[2:]]
    record, _ = talk(bench, AGENT, user)
    assert outcome(record) == "pass", (record.trouble, record.violations)
    own = [(call.server, call.tool, call.turn) for call in record.calls if call.actor == "user"]
    assert own == [("drawer", "list_things", 0), ("drawer", "remove_thing", 0), ("drawer", "list_things", 1)]
    assert record.counts.made == record.counts.charged == 1
    assert record.violations == ()
    assert {tool.server for tool in record.tools} == {"shelf"}


def test_a_user_has_no_other_tools(bench: Bench) -> None:
    write(bench, AGENT, [{"call": "wipe_all"}, *USER])
    bench.run()
    trouble = bench.records["tidy#1"].trouble
    assert trouble is not None and trouble.chain == ("user_script:unexpected",)
    assert "wipe_all" in trouble.message


def test_scripted_turns_come_first_and_the_prompt_before_them(bench: Bench) -> None:
    agent = [{"reply": "Hello."}, {"expect": {"user_contains": "shelf?"}, "reply": "A lamp."}, *AGENT]
    record, _ = talk(
        bench, agent, USER, first='prompt "Good morning."', scripted='turn { user "What is on the shelf?" }'
    )
    assert [(e.by, e.said) for e in record.exchanges][:2] == [
        ("prompt", "Good morning."),
        ("script", "What is on the shelf?"),
    ]
    assert outcome(record) == "pass", (record.trouble, record.verdicts)


STOPS = {
    "its own words": ('stop says "bye for now"', "turns"),
    "a state": ('stop when state shelf.list_things() $.things has "red cup"', "state"),
    "the last message": ("", "turns"),
}


@pytest.mark.parametrize("case", STOPS.values(), ids=STOPS.keys())
def test_when_it_is_over(bench: Bench, case: tuple[str, str]) -> None:
    stop, ended = case
    agent = [*AGENT, *({**hears("more"), "reply": "No."} for _ in range(0 if ended == "state" else 2))]
    more = [
        {**hears(heard), "reply": said} for heard, said in (("there", "Any more?"), ("No", "No more?"), ("No", "Bye"))
    ]
    user = [*USER[:2], *more]
    record, _ = talk(bench, agent, user, stop=stop)
    assert record.user is not None and record.user.ended == ended, record.trouble
    assert len(record.exchanges) == (2 if ended == "state" else 4)
    assert outcome(record) == "pass"


TROUBLE = {
    "its API": ({"error": {"kind": "overloaded", "status": 529}}, ("user_model:529",), "model_api"),
    "its script": ({"call": "no_such_tool"}, ("user_script:unexpected",), "script"),
    "a refusal": ({"refusal": "I would rather not."}, ("user_model:refusal",), "user_model"),
}


@pytest.mark.parametrize("case", TROUBLE.values(), ids=TROUBLE.keys())
@pytest.mark.parametrize("place", [0, 1])
def test_trouble_of_the_user_is_never_the_agents(
    bench: Bench, place: int, case: tuple[dict[str, Any], tuple[str, ...], str]
) -> None:
    step, chain, kind = case
    record, done = talk(bench, AGENT, [*USER[:place], {**hears("Which" if place else "Hello"), **step}])
    assert outcome(record) == "untestable" and done.code == 3
    assert record.trouble is not None
    assert (record.trouble.chain, record.trouble.kind) == (chain, kind)
    assert record.trouble.when == ("before_answer" if place else "before_agent")


def test_a_user_whose_script_cannot_be_read_is_told_before_anything_runs(bench: Bench) -> None:
    write(bench, AGENT, USER)
    bench.write("specs/actor.yaml", "tasks: 7\n")
    done = bench.run(trust=False)
    assert done.code == 2 and "specs/actor.yaml:1:8" in done.err
    assert not runs(bench.root)


def test_a_user_whose_model_cannot_be_opened_keeps_the_trials_from_starting(bench: Bench) -> None:
    write(bench, AGENT, USER)
    text = (bench.root / "specs/bench.mcpe").read_text()
    bench.write("specs/bench.mcpe", text.replace('script "actor.yaml"', 'anthropic "claude-sonnet-4-5"'))
    done = bench.run()
    record = bench.records["tidy#1"]
    assert done.code == 3 and outcome(record) == "untestable"
    assert record.trouble is not None and record.trouble.chain == ("user_model:preflight",)
    assert "plays the user" in record.trouble.message


def test_a_user_may_have_tools_of_private_servers_only(bench: Bench) -> None:
    write(bench, AGENT, USER)
    text = (bench.root / "specs/bench.mcpe").read_text()
    bench.write("specs/bench.mcpe", text.replace("; private", ""))
    done = bench.mcpe("compile", "specs")
    assert done.code == 2 and done.err.count("MCPE331") == 2


def test_a_replay_says_what_was_said_and_does_what_was_done(bench: Bench) -> None:
    take = {"call": {"tool": "remove_thing", "arguments": {"name": "cup"}}}
    record, _ = talk(bench, AGENT, [take, *USER])
    bench.write("specs/actor.yaml", "tasks: {'*': [{reply: something else}]}\n")
    again = bench.mcpe("replay", record.id)
    assert again.code == 0, again.out + again.err
    assert "outcome now   pass" in again.out


def test_the_transcript_says_who_spoke(bench: Bench) -> None:
    take = {"call": {"tool": "remove_thing", "arguments": {"name": "cup"}}}
    record, _ = talk(bench, AGENT, [take, *USER])
    seen = bench.mcpe("view", record.id)
    lines = [line.split("  ")[0] for line in seen.out.splitlines() if line and not line.startswith(" ")]
    assert [line for line in lines if line.startswith(("USER", "TURN"))] == [
        *("USER 1", "TURN 1", "USER 2", "TURN 2", "TURN 3", "USER")
    ]
    assert "simulated by actor" in seen.out and "drawer.remove_thing" in seen.out
    assert "I want a cup on the shelf." in seen.out and "Thank you." in seen.out


def test_scoring_again_gives_the_same_verdicts(bench: Bench) -> None:
    record, _ = talk(bench, AGENT, USER)
    done = bench.mcpe("score")
    assert done.code == 0, done.err
    assert bench.records["tidy#1"].verdicts == record.verdicts
