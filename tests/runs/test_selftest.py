"""`mcpe selftest` over whole suites: what it finds in tasks and graders, and near misses in which it finds nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.execute.bench import Bench

HARVEST = "harvest things = shelf.list_things() { all = $.things; name = $.things[0] }\n"
GOOD = """
task name_it "Which is first?" {
  prompt "Which thing stands first?"
  reference { shelf.get_thing(number: 0) }
  grade contains things.name
}
task put_it "Put a thing there" {
  prompt "Put a bowl on the shelf."
  kind write
  may add_thing(name == "bowl")
  reference { shelf.add_thing(name: "bowl") }
  grade same_state { view shelf.list_things() }
}
task copy_it "Steps that use what others gave" {
  prompt "Put each thing there again."
  kind write
  may add_thing
  reference {
    listed = shelf.list_things() { names = $.things }
    for name in listed.names limit 2 { shelf.add_thing(name: name) }
  }
  grade state shelf.list_things() $.things == ["lamp", "vase", "lamp", "vase"]
}
task count_them "How many?" {
  prompt "How many things are there?"
  reference { shelf.list_things() }
  grade number count(things.all)
}
task list_them "Which?" {
  prompt "Which things are there?"
  reference { shelf.list_things() }
  grade set things.all
  grade calls list_things
}
for n in [0, 1] {
  task rows "Each in its place" {
    prompt "Which thing has number {{ n }}?"
    reference { shelf.get_thing(number: n) }
    grade contains things.all[n]
  }
}
"""


def tried(bench: Bench, body: str, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and what came of each task instance."""
    bench.spec(HARVEST + body)
    bench.trust()
    ended = bench.mcpe("selftest", "specs", "--format", "json", *arguments)
    assert "internal error" not in ended.err and "Traceback" not in ended.err, ended.err
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert not lines or lines[0]["schema"] == "mcpe-selftest/1"
    return ended.code, {line["instance"]: line for line in lines if line["type"] == "selftest"}


def test_a_good_suite_has_no_findings(bench: Bench) -> None:
    code, found = tried(bench, GOOD)
    assert [(each["instance"], each["findings"]) for each in found.values() if each["findings"]] == []
    assert code == 0
    assert {each["reference"] for each in found.values()} == {"pass"}, found
    assert {each["null"] for each in found.values()} == {"pass"}
    assert all(found[name]["mutants"] == found[name]["rejected"] > 0 for name in ("name_it", "count_them", "list_them"))
    assert found["put_it"]["mutants_because"] == "no grader reads the answer"
    assert "exact" in found["name_it"]["notes"][0]
    assert len(found) == 7
    assert list((bench.root / ".mcpe" / "selftest").iterdir()) == []
    assert bench.left_over() == []


TASK = """
task t "A task" {{
  prompt "Which thing stands first?"
  {rest}
}}
"""
SEEN = "reference { shelf.get_thing(number: 0) }\n"


def one(bench: Bench, rest: str, *arguments: str, before: str = "") -> tuple[int, dict[str, Any]]:
    code, found = tried(bench, before + TASK.format(rest=rest), *arguments)
    (each,) = found.values()
    return code, each


def test_a_reference_that_does_not_solve_its_task(bench: Bench) -> None:
    rest = 'kind write\nmay add_thing\nreference { shelf.add_thing(name: "vase") }\n'
    code, each = one(bench, rest + 'grade state shelf.list_things() $.things has "bowl"')
    assert (code, each["reference"]) == (1, "fail")
    assert "the reference does not pass: state (specs/bench.mcpe:" in each["findings"][0]


def test_a_reference_that_is_not_permitted(bench: Bench) -> None:
    rest = 'reference { shelf.add_thing(name: "bowl") }\ngrade contains things.name'
    code, each = one(bench, rest)
    assert code == 1 and "add_thing is denied: permit it with `may`" in each["findings"][0]


def test_a_reference_that_calls_what_agents_are_not_shown(bench: Bench) -> None:
    code, each = one(bench, "tools only list_things\n" + SEEN + "grade contains things.name")
    assert code == 1 and "are not shown shelf.get_thing" in each["findings"][0]


def test_a_reference_that_the_budget_stops_needs_no_permission(bench: Bench) -> None:
    twice = "reference { shelf.list_things(); shelf.get_thing(number: 0) }\n"
    code, each = one(bench, "budget calls <= 1 hard 1\n" + twice + "grade contains things.name")
    assert code == 1 and "get_thing is denied: the call budget is used up" in each["findings"][0]


def test_a_reference_that_passes_with_a_call_that_fails_is_told(bench: Bench) -> None:
    fails = "reference { shelf.get_thing(number: 77) }\n"
    code, each = one(bench, fails + "grade contains things.name")
    assert (code, each["reference"]) == (0, "pass")
    assert each["notes"][0].startswith("the reference passes, though shelf.get_thing had failed: ")


def test_a_reference_over_the_budget(bench: Bench) -> None:
    twice = "reference { shelf.list_things(); shelf.get_thing(number: 0) }\n"
    code, each = one(bench, "budget calls <= 1\n" + twice + "grade contains things.name")
    assert code == 1 and "too many calls" in each["findings"][0].replace("_", " ")


def test_graders_that_contradict_each_other(bench: Bench) -> None:
    code, each = one(bench, SEEN + 'grade exact "lamp"\ngrade contains "vase"')
    assert code == 1 and "contains" in each["findings"][0]


def test_an_agent_that_does_nothing_passes(bench: Bench) -> None:
    code, each = one(bench, SEEN + "grade unchanged shelf.list_things()")
    assert (code, each["null"], each["reference"]) == (1, "fail", "pass")
    assert 'passes with an empty answer and with "I don\'t know."' in each["findings"][0]


def test_where_nothing_is_to_be_called_doing_nothing_is_right(bench: Bench) -> None:
    code, each = one(bench, "grade calls none(*)\ngrade unchanged shelf.list_things()")
    assert (code, each["null_because"], each["findings"]) == (4, "it asks that nothing is called", [])
    code, each = one(bench, 'grade calls none(wipe_all)\ngrade not contains "purple"')
    assert code == 1 and each["null"] == "fail"


def test_an_agent_that_says_it_does_not_know_passes(bench: Bench) -> None:
    code, each = one(bench, SEEN + 'grade not contains "purple"')
    assert code == 1 and 'passes with "I don\'t know."' in each["findings"][0]


def test_a_grader_that_accepts_a_wrong_number(bench: Bench) -> None:
    code, each = one(bench, SEEN + r"grade regex /2|3/")
    assert code == 1 and "another number: 2 → 3" in each["findings"][0]
    code, each = one(bench, SEEN + r"grade regex /2/")
    assert code == 0 and each["mutants"] == each["rejected"] > 0


def test_an_answer_that_only_one_item_of_is_graded(bench: Bench) -> None:
    code, each = one(bench, SEEN + 'grade any { contains "lamp"; contains "vase" }')
    assert code == 0 and each["reference"] == "pass"


def test_tolerance_is_no_fault(bench: Bench) -> None:
    code, each = one(bench, SEEN + "grade number 200 within 10%")
    assert (code, each["mutants"], each["rejected"]) == (0, 1, 1), each


def test_a_task_without_a_reference_is_not_tested_with_one(bench: Bench) -> None:
    code, each = one(bench, 'grade exact "lamp"')
    assert (code, each["reference"], each["reference_because"]) == (0, "not tested", "the task has no `reference`")
    assert each["null"] == "pass" and each["mutants"] == each["rejected"] > 0


def test_wrong_answers_are_not_tried_where_calls_decide_too(bench: Bench) -> None:
    code, each = one(bench, 'grade exact "lamp"\ngrade calls get_thing')
    assert (code, each["mutants"], each["mutants_because"]) == (0, 0, "the task has no `reference`")


def test_a_pattern_does_not_say_what_an_answer_looks_like(bench: Bench) -> None:
    code, each = one(bench, SEEN + r"grade regex /^[a-z]+$/")
    assert (code, each["reference"]) == (0, "not tested") and "does not say what an answer" in each["reference_because"]
    code, each = one(bench, SEEN + 'grade regex /^[a-z]+$/\ngrade contains "lamp"')
    assert (code, each["reference"]) == (0, "pass")


def test_judges_are_left_out_and_said_so(bench: Bench) -> None:
    judged = 'grade judge canned { claim "names the first thing" }'
    code, each = one(bench, SEEN + judged)
    assert (code, each["reference_because"], each["null_because"]) == (
        4,
        "only judges grade it",
        "only judges grade it",
    )
    code, each = one(bench, SEEN + judged + "\ngrade unchanged shelf.list_things()")
    assert code == 0 and each["reference"] == "pass" and "judge would have to reject" in each["null_because"]


def test_a_refusal_that_is_asked_for(bench: Bench) -> None:
    code, each = one(bench, "reference { shelf.list_things() }\nexpect refusal")
    assert (code, each["reference"], each["null"]) == (0, "pass", "pass"), each


def test_json_answers(bench: Bench) -> None:
    schema = 'answer schema { type: "object" }\n'
    code, each = one(bench, schema + SEEN + 'grade json $.first == "lamp"\ngrade json $.count == 2')
    assert (code, each["reference"]) == (0, "pass") and each["mutants"] == each["rejected"] >= 4, each


def test_a_dialogue_is_not_tested(bench: Bench) -> None:
    code, each = one(
        bench, 'dialogue { turn { user "And the second?"; grade contains "vase" } }\ngrade contains "lamp"'
    )
    assert code == 4 and each["reference_because"] == "a dialogue needs somebody to talk to"


def test_a_server_that_does_not_start_is_no_finding(bench: Bench) -> None:
    bench.spec(TASK.format(rest=SEEN + 'grade exact "lamp"'))
    text = (bench.root / "specs" / "bench.mcpe").read_text(encoding="utf-8")
    bench.write("specs/bench.mcpe", text.replace('"shelf.py"', '"gone.py"'))
    bench.trust()
    ended = bench.mcpe("selftest", "specs")
    assert ended.code == 3 and "not tested (reference, the agent that does nothing)" in ended.out, ended.out


def test_the_table_is_for_people(bench: Bench) -> None:
    bench.spec(HARVEST + TASK.format(rest=SEEN + "grade unchanged shelf.list_things()"))
    bench.trust()
    ended = bench.mcpe("selftest", "specs")
    assert ended.code == 1
    assert "t     pass       PASSES        not tested" in ended.out, ended.out
    assert "FINDING t: an agent that calls nothing passes with an empty answer" in ended.out


def test_it_starts_nothing_that_is_not_trusted(bench: Bench) -> None:
    bench.spec(HARVEST + GOOD)
    ended = bench.mcpe("selftest", "specs")
    assert ended.code == 2 and ended.out == "" and "trust" in ended.err
    assert not (bench.root / ".mcpe" / "selftest").exists()


def test_tasks_are_selected(bench: Bench) -> None:
    _, found = tried(bench, GOOD, "--select", "name_it")
    assert list(found) == ["name_it"]


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_held_out_tasks_are_tried_too(bench: Bench, split: str) -> None:
    code, each = one(bench, f'split {split}\n{SEEN}grade exact "lamp"')
    assert (code, each["reference"]) == (0, "pass")


VERSIONS = """
server old { stdio "python" "shelf.py"; catalog shelf; timeout 5s }
server new { stdio "python" "shelf.py" "--mode" "changed"; catalog shelf; timeout 5s }
annotations shelf { readonly list_*, get_*; additive add_thing }
matrix { server = [old, new]; model = [canned] }
"""


def test_each_version_of_a_server_is_tried(bench: Bench) -> None:
    body = 'task t "T" { prompt "?"; servers shelf; reference { shelf.get_thing(number: 0) }; grade exact "lamp" }'
    head = (
        'suite bench "Bench" { trials TRIALS; defaults { environment desk } }\nmodel canned { script "canned.yaml" }\n'
    )
    bench.spec(VERSIONS + body, head=head)
    bench.trust()
    ended = bench.mcpe("selftest", "specs", "--format", "json")
    found = [json.loads(line) for line in ended.out.splitlines()[1:]]
    assert ended.code == 0, ended.err + ended.out
    assert sorted((each["instance"], each["variant"], each["reference"]) for each in found) == [
        ("t", "new", "pass"),
        ("t", "old", "pass"),
    ]


def test_what_is_known_to_fail_or_needed_is_no_finding(bench: Bench) -> None:
    wrong = 'reference { shelf.list_things() }\ngrade state shelf.list_things() $.things == ["bowl"]\n'
    code, each = one(bench, 'known_failure "not built yet"\n' + wrong)
    assert (code, each["reference_because"], each["findings"]) == (0, "known failure: not built yet", [])
    code, each = one(bench, 'needs binary "no-such-program"\n' + wrong)
    assert (code, each["reference"], each["null"]) == (4, "not tested", "not tested"), each


def test_the_expected_value_may_be_read_after_the_trial(bench: Bench) -> None:
    rest = "kind write\nmay add_thing\ntruth after = shelf.list_things() { last = $.things[-1] }\n"
    code, each = one(bench, rest + 'reference { shelf.add_thing(name: "bowl") }\ngrade exact after.last')
    assert (code, each["reference"]) == (0, "pass"), each


def test_rows_that_are_not_there_are_left_out(bench: Bench) -> None:
    rest = "reference { shelf.get_thing(number: 0) }\n  grade contains thing"
    body = f'for thing in things.all key thing limit 5 {{ task t "T" {{ prompt "{{{{ thing }}}}?"; {rest} }} }}'
    code, found = tried(bench, body)
    assert len(found) == 2, found
    assert code == 0
