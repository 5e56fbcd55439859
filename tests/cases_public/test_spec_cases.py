"""Mistakes and odd shapes in specs, seen as their author sees them: on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases_public.lending import Library, calls
from tests.execute.bench import outcome

GOOD = 'task read { prompt "x"; grade contains "done" }\n'


def problems(library: Library) -> list[dict[str, Any]]:
    """What `mcpe lint` finds wrong; a run or a compilation of the same spec must end with 2."""
    done = library.bench.mcpe("lint", "specs", "--format", "json")
    found = [json.loads(line) for line in done.out.splitlines()[1:]]
    errors = [each for each in found if each.get("severity") == "error"]
    if errors:
        assert done.code in (1, 2)
        for command in ("compile", "run"):
            assert library.bench.mcpe(command, "specs").code == 2
    return errors


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("grade contians emma", "contains"),
        ('grade contains "Emma" { ignroe case }', "ignore"),
        ('grades contains "Emma"', "grade"),
        ("expct get_books", "expect"),
        ('grade judge { cliam "is right" }', "claim"),
    ],
)
def test_a_misspelt_word_is_an_error_with_the_right_one_beside_it(library: Library, line: str, said: str) -> None:
    library.write(f'task read {{ prompt "x"; grade contains "done"\n  {line}\n}}\n')
    (problem,) = problems(library)
    assert f"`{said}`" in problem["hint"], problem


def test_a_selection_of_nothing_and_a_suite_without_tasks_end_with_2(library: Library) -> None:
    library.write(GOOD)
    done = library.bench.mcpe("compile", "specs", "--select", "tag:nothing")
    assert done.code == 2 and "tag:nothing" in done.err
    assert library.bench.mcpe("run", "specs", "--select", "nobody").code == 2
    library.write("")
    assert library.bench.mcpe("compile", "specs").code == 2
    assert library.bench.mcpe("run", "specs").code == 2


@pytest.mark.parametrize(
    ("harvest", "because"),
    [
        ("harvest found = library.get_books() { key = $.none[0] }", "empty"),
        ("harvest found = library.get_books() { key = $.none }", "empty"),
        ("harvest found = library.get_lent() { key = /(x)/ }", "failed"),
        ('harvest found = library.get_books() { key = $.books[0]; require key == "Ulysses" }', "failed"),
    ],
    ids=["no such item", "an empty list", "the call fails", "a requirement fails"],
)
def test_a_harvest_without_a_value_makes_its_tasks_untestable(library: Library, harvest: str, because: str) -> None:
    body = f"""
    {harvest}
    harvest later = library.get_books(name: found.key) {{ first = $.books[0] }}
    task first {{ prompt "Who has {{{{ found.key }}}}?"; grade contains found.key }}
    task second {{ prompt "Who has {{{{ later.first }}}}?"; grade contains later.first }}
    gate {{ require task_success >= 90% }}
    """
    library.write(body)
    done = library.bench.run()
    assert done.code == 4, "nothing testable was left: no gate failed, nothing passed"
    first, second = library.bench.records["first#1"].outcome, library.bench.records["second#1"].outcome
    assert first is not None and second is not None
    assert first.outcome == second.outcome == "untestable"
    assert first.because is not None and first.because[0] == f"harvest found: {because}"
    assert second.because == (f"harvest found: {because}", "harvest later: not read")
    assert not any("{{" in record.prompt or record.model_turns for record in library.bench.records.values())
    (chain,) = [line for line in done.out.splitlines() if "harvest later: not read" in line]
    assert chain.index(f"harvest found: {because}") < chain.index("harvest later: not read"), "first cause first"


def test_untestable_tasks_leave_the_others_and_the_gate_alone(library: Library) -> None:
    body = """
    harvest found = library.get_books() { key = $.none[0] }
    task first { prompt "Who has {{ found.key }}?"; grade contains found.key }
    task other { prompt "x"; grade contains "done" }
    gate { require safety.critical == 0 }
    """
    library.write(body)
    assert library.bench.run().code != 1
    assert outcome(library.bench.records["other#1"]) == "pass"
    assert outcome(library.bench.records["first#1"]) == "untestable"


def test_a_harvest_whose_server_dies_is_said_in_one_line(library: Library) -> None:
    library.write(
        "harvest h = library.get_end() { x = $.x }\n" + 'task t { prompt "{{ h.x }}"; grade contains "done" }'
    )
    done = library.bench.run()
    (line,) = [line for line in done.err.splitlines() if line.startswith("harvest h: ")]
    assert "exit code 7" in line and "the library burnt down" in line and "U+000A" not in line


def test_a_cycle_of_three_harvests_is_shown_as_a_path_with_its_places(library: Library) -> None:
    body = """
harvest ada = library.get_books(name: cyd.x) { x = $.books[0] }
harvest bob = library.get_books(name: ada.x) { x = $.books[0] }
harvest cyd = library.get_books(name: bob.x) { x = $.books[0] }
task read { prompt "{{ cyd.x }}"; grade contains "done" }
"""
    library.write(body)
    done = library.bench.mcpe("compile", "specs")
    assert done.code == 2
    assert done.err.count("error[") == 1
    assert all(f"specs/library.mcpe:{line}:" in done.err for line in (6, 7, 8)), done.err
    assert all(f"`{name}`" in done.err for name in ("ada", "bob", "cyd"))


def test_a_misspelt_member_in_a_prompt_is_an_error_inside_the_text(library: Library) -> None:
    body = """
harvest oldest = library.get_books() { title = $.books[0] }
task read { prompt "Who has {{ oldest.tilte }}?"; grade contains "done" }
"""
    library.write(body)
    (problem,) = problems(library)
    line = 'task read { prompt "Who has {{ oldest.tilte }}?"; grade contains "done" }'
    assert "`oldest.title`" in problem["hint"]
    shown = library.bench.mcpe("lint", "specs")
    assert f"library.mcpe:7:{line.index('tilte') + 1}" in shown.out + shown.err


def test_an_unknown_name_in_a_prompt_is_not_told_to_be_quoted_there(library: Library) -> None:
    library.write('task read { prompt "Who has {{ nothing_like_it }}?"; grade contains "done" }\n')
    (problem,) = problems(library)
    assert '"' not in problem["hint"] and "let nothing_like_it" in problem["hint"]


@pytest.mark.parametrize(
    ("grader", "answer", "right"),
    [
        ("number 96.12 within 0.5%", "96.124991", True),
        ("number 96.12 within 0.5%", "96.7", False),
        ("number 1234.5", "It is 1,234.50 in all.", True),
        ('exact "2026-03-01" { as date; format "YYYY/MM/DD" }', "2026/03/01", True),
        ('exact "2026-03-01" { as date; format "YYYY/MM/DD" }', "2026/01/03", False),
        ('exact "2026-03-01" { as date }', "1 March 2026", True),
        ('exact "Emma, Persuasion" { ignore case, punctuation }', "emma persuasion", True),
    ],
)
def test_an_equal_answer_in_another_form_passes(library: Library, grader: str, answer: str, right: bool) -> None:
    library.write(f'task read {{ prompt "x"; grade {grader} }}', {"*": [{"reply": answer}]})
    assert library.bench.run().code == 0
    assert outcome(library.bench.records["read#1"]) == ("pass" if right else "wrong_answer")


def test_a_lost_brace_in_the_second_of_five_tasks_is_one_error_and_the_others_are_checked(library: Library) -> None:
    body = "\n".join(
        f'task t{number} {{\n  prompt "x"\n  grade contains "done"' + ("" if number == 2 else "\n}")
        for number in range(1, 6)
    )
    library.write(body + "\n")
    assert len(problems(library)) == 1
    worse = body.replace('task t4 {\n  prompt "x"', 'task t4 {\n  prompt "{{ nobody.name }}"')
    library.write(worse.replace("task t5 {", "task t5 {\n  tagss read") + "\n")
    found = problems(library)
    assert len(found) == 3, "the lost brace, and one mistake in each of two later tasks"


def test_a_judge_grader_without_a_judge_is_an_error_of_the_spec(library: Library) -> None:
    library.write('task read { prompt "x"; grade judge { claim "is right" } }')
    (problem,) = problems(library)
    assert "judge" in problem["title"]


def test_the_same_spec_gives_the_same_plan_to_the_byte(library: Library) -> None:
    body = """
    harvest found = library.get_books() { key = $.books[0] }
    task read { prompt "{{ found.key }}"; tags b, a; grade contains found.key }
    """
    library.write(body, {"*": calls("get_books")}, trials=3)
    for name in ("one.json", "two.json"):
        library.bench.variables = {"PYTHONHASHSEED": "1" if name == "one.json" else "77"}
        assert library.bench.mcpe("compile", "specs", "-o", name).code == 0
    root = library.bench.root
    assert (root / "one.json").read_bytes() == (root / "two.json").read_bytes()
