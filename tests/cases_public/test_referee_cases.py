"""What the numbers of a run are worth: repeats, comparisons that would mislead, lift without use, none seen, all passed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from mcpeval_dsl.records.folder import runs
from tests.cases_public.lending import Library, calls
from tests.execute.bench import Ended

# No server is started for these: what is tested is the referee.
ALONE = "arm bare { }\nmatrix { arm = [bare] }\n"
SAYS = 'task {name} {{ prompt "What is {name}?"; grade contains "done" }}\n'


def many(count: int, first: str = "t") -> str:
    return "".join(SAYS.format(name=f"{first}{number}") for number in range(count))


def card(library: Library) -> dict[str, Any]:
    return dict(json.loads(library.bench.scorecard))


def names(library: Library) -> list[str]:
    """Runs, the latest first."""
    return [run.path.name for run in runs(library.bench.root)]


def run_as(library: Library, name: str, *arguments: str) -> Ended:
    done = library.bench.run("--name", name, *arguments)
    assert (library.bench.root / ".mcpe" / "runs" / name).is_dir(), done.err
    return done


def compared(library: Library, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = library.bench.mcpe("compare", "new", "old", "--format", "json", *arguments)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines[0]["schema"].startswith("mcpe-comparison/"), done.err
    return done.code, lines[1]["comparison"]


def test_trials_that_play_one_back_count_once(library: Library) -> None:
    library.write(many(2) + ALONE, trials=1)
    assert library.bench.run().code == 0
    stored = [record.model_dump(mode="json") for record in library.bench.records.values()]
    for number, record in enumerate(stored):
        library.bench.write(f"specs/stored{number}.json", json.dumps(record))
    again = 'model again { replay "stored0.json" }\narm bare { }\nmatrix { model = [again]; arm = [bare] }\n'
    library.write(SAYS.format(name="t0") + again, trials=5)
    done = library.bench.run()
    (cell,) = card(library)["cells"]
    assert (cell["counts"]["planned"], cell["counts"]["repeats"]) == (5, 4)
    assert (cell["success"]["trials"], cell["success"]["value"]) == (1, 1.0)
    assert done.code == 0, done.out
    assert "SAFETY  PASS  0 of 1 trial with a critical violation" in done.out
    for text in (done.out, library.bench.mcpe("report", "--format", "markdown").out):
        assert "4 more trials only played another one back" in text


def test_scripted_trials_are_trials_of_their_own(library: Library) -> None:
    library.write(many(2) + ALONE, trials=3)
    assert library.bench.run().code == 0
    (cell,) = card(library)["cells"]
    assert (cell["success"]["trials"], cell["counts"]["repeats"]) == (6, 0)


FIXED = 'environment desk { copy "stock.txt" to "{{ workdir }}/stock.txt" }\n'


def _two_runs(library: Library, *, grade: str = "done", stock: str = "one") -> None:
    """`old` and `new`, of the same suite but for what is said."""
    for name, word, text in (("old", "done", "one"), ("new", grade, stock)):
        library.bench.write("specs/stock.txt", text)
        tasks = "".join(f'task t{n} {{ prompt "?"; environment desk; grade contains "{word}" }}\n' for n in range(7))
        library.write(FIXED + tasks + ALONE)
        run_as(library, name)


def test_runs_with_other_graders_and_fixtures_are_not_compared(library: Library) -> None:
    _two_runs(library, grade="other", stock="two")
    code, found = compared(library)
    assert (code, found["verdict"]) == (2, "refused")
    assert {each["name"]: each["text"] for each in found["differences"]} == {
        "graders": "t0, t1, t2, t3 and 3 more",
        "fixtures": "specs/stock.txt",
    }
    assert compared(library, "--accept", "graders")[0] == 2
    code, found = compared(library, "--accept", "graders,fixtures")
    assert (found["verdict"], found["cause"]) == ("regression", "")
    text = library.bench.mcpe("compare", "new", "old")
    assert "REFUSED" in text.out and "--accept graders --accept fixtures" in text.out


def test_a_changed_program_of_a_server_is_what_is_under_test(library: Library) -> None:
    """A script of the project that a server is started from is no fixture."""
    server = 'server own { stdio "python" "../servers/own.py" }\n'
    for name in ("old", "new"):
        library.bench.write("servers/own.py", f"# {name}")
        library.write(server + many(7) + ALONE)
        run_as(library, name)
    code, found = compared(library)
    assert (code, found["verdict"], found["differences"]) == (0, "none shown", [])
    assert "own artefact" in library.bench.mcpe("compare", "new", "old").out


def test_a_script_that_was_mended_is_named_and_no_model_is_blamed(library: Library) -> None:
    library.write(many(7) + ALONE, {"*": [{"reply": "dune"}]})
    assert run_as(library, "old").code == 0
    library.write(many(7) + ALONE)
    assert run_as(library, "new").code == 0
    code, found = compared(library)
    assert (code, found["verdict"]) == (2, "refused")
    assert [(each["name"], each["text"]) for each in found["differences"]] == [("models", "the script of canned")]
    assert "TASKS" not in library.bench.mcpe("compare", "new", "old").out


def test_runs_of_the_same_are_compared(library: Library) -> None:
    _two_runs(library)
    code, found = compared(library)
    assert (code, found["verdict"], found["differences"]) == (0, "none shown", [])
    assert found["tasks"] == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "new", "new"), "not compared with itself"),
        (("compare", "new", "nothing"), "there is no run `nothing`"),
        (("compare", "new", "old", "--accept", "grader"), "did you mean `graders`?"),
        (("compare", "new", "old", "--format", "xml"), "--format is text or json"),
    ],
)
def test_a_comparison_that_cannot_be_meant(library: Library, arguments: Sequence[str], said: str) -> None:
    library.write(many(1) + ALONE)
    run_as(library, "old")
    library.write(many(2) + ALONE)
    run_as(library, "new")
    done = library.bench.mcpe(*arguments)
    assert done.code == 2
    assert said in done.err


ASKS = [
    {"when": "'get_books' in tools", "call": "get_books"},
    {"reply": "{{ 'done' if not results or 'Persuasion' in results[0].text else 'lost' }}"},
]


def test_fifty_nine_trials_without_a_violation_are_not_called_safe(library: Library) -> None:
    library.write(many(1) + ALONE, trials=59)
    done = library.bench.run()
    safety = card(library)["safety"]
    assert (safety["exposed_trials"], safety["trials_with_critical"]) == (59, 0)
    assert safety["at_most_by_trials"] == pytest.approx(0.0495, abs=1e-4)
    assert "up to 4.9 % of trials" in done.out or "up to 5.0 % of trials" in done.out
    assert "0 of 1: up to 95.0 %" in done.out


def test_all_passed_is_not_certain_and_said_to_be_saturated(library: Library) -> None:
    library.write(many(6) + ALONE, trials=2)
    done = library.bench.run()
    (cell,) = card(library)["cells"]
    assert (cell["success"]["value"], cell["success"]["high"], cell["saturated"]) == (1.0, 1.0, True)
    assert 0.4 < cell["success"]["low"] < 0.6
    assert "[47.6, 100.0]" in done.out
    assert "tells nothing apart here any more" in done.out


@pytest.mark.parametrize(("reply", "word", "code"), [("done", "FAIL", 1), ("lost", "PASS", 0)], ids=["passes", "fails"])
def test_a_known_failure_that_passes_is_stale_until_it_is_removed(
    library: Library, reply: str, word: str, code: int
) -> None:
    known = 'task t { prompt "?"; grade contains "done"; known_failure "issue 12" }\n'
    library.write(known + ALONE, {"*": calls(reply=reply)}, trials=2)
    done = library.bench.run()
    (row,) = card(library)["rows"]
    assert (done.code, card(library)["gate"]["word"], row["stale"]) == (code, word, reply == "done")
    assert ("remove `known_failure`" in done.out) == (reply == "done")
    if reply == "done":
        library.write(known.replace('; known_failure "issue 12"', "") + ALONE, trials=2)
        assert library.bench.run().code == 0


def test_gates_on_an_earlier_run_of_another_server(library: Library) -> None:
    """The new version of the server forgets a book; the agent and all else are the same."""
    ask = many(6)
    library.write(ask, {"*": ASKS})
    assert run_as(library, "old").code == 0
    gate = "gate {{ {} }}\n".format
    library.write(ask + gate('require regressions == 0 { baseline "old" }'), {"*": ASKS}, mode="long")
    done = run_as(library, "new")
    assert done.code == 1, done.out
    (rule,) = card(library)["gate"]["rules"]
    assert (rule["word"], rule["measured"], rule["baseline"]) == ("FAIL", 6.0, "old")
    for asked, code in (
        ('require regressions == 0 { baseline "runs/old" }', 1),
        ('require task_success >= 0 { baseline "old" }', 1),
        ('require calls.p95 <= 0 { baseline "old" }', 0),
        ('require regressions == 0 { baseline "gone" }', 4),
        ('require regressions == 0 { baseline "new" }', 4),
    ):
        library.write(ask + gate(asked), {"*": ASKS}, mode="long")
        done = library.bench.mcpe("score", "new", "--spec", "specs/library.mcpe")
        assert done.code == code, done.out + done.err
    code, found = compared(library)
    assert (code, found["verdict"], found["cause"]) == (4, "insufficient data", "the server")
    assert [change["component"] for change in found["changes"]] == ["artefact"]
    assert [flip["direction"] for flip in found["flips"]] == ["lost"] * 6


def test_a_gate_that_asks_for_more_than_the_trials_can_show_is_told_before_the_run(library: Library) -> None:
    library.write(many(6) + ALONE + "gate { require task_success.low >= 80% }\n", trials=3)
    done = library.bench.mcpe("compile")
    assert "MCPE581" in done.err + done.out
    assert "47.6 % at best" in done.err + done.out
    # Where no trials are to be run, their number is nobody's question.
    for command in ("check", "selftest", "graph", "trust"):
        done = library.bench.mcpe(command, "specs/library.mcpe")
        assert "MCPE581" not in done.err + done.out, command
    library.write(many(6) + ALONE + "gate { require task_success >= 80% }\n", trials=3)
    done = library.bench.mcpe("compile")
    assert "MCPE581" not in done.err + done.out


def test_power_reads_the_variances_of_a_run(library: Library) -> None:
    library.write(many(6) + ALONE, {"t0": calls(reply="lost"), "*": calls()}, trials=2)
    run_as(library, "old")
    done = library.bench.mcpe("power", "old", "--effect", "10", "--format", "json")
    (answer,) = [json.loads(line) for line in done.out.splitlines()][1:]
    assert answer["trials"] == 2 and "correlation of two versions 0.50 assumed" in answer["source"]
    assert answer["between"] == pytest.approx(1 / 6)
    assert answer["tasks_for_effect"] == [{"points": 10.0, "tasks": 131}]
