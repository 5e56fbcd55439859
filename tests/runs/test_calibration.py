"""Judges are measured on what people have judged: whole runs, from the labelled answers to the gate."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agents.provider_server import Answer, ProviderServer, Say, Seen
from tests.cases_public.lending import SUITE, Library
from tests.execute.bench import Bench, Ended, outcome

ASK = 'task t { prompt "How many?"; grade judge { claim "says how many" } }\n'
GATE = "gate { require task_success >= 50% }\n"
RIGHT = '{{ "pass" if matches(prompt, "three") else "fail" }}'


@pytest.fixture
def library(tmp_path: Path) -> Library:
    root = tmp_path / "project"
    root.mkdir()
    return Library(Bench(root))


def labels(count: int = 40, wrong: tuple[int, ...] = ()) -> str:
    """Answers that say `three` are right, but for those of which people said something else."""
    rows = [
        {
            "claim": "says how many",
            "answer": f"{'three' if number % 2 else 'dunno'} {number}",
            "verdict": "pass" if bool(number % 2) != (number in wrong) else "fail",
        }
        for number in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def says(verdict: str) -> list[dict[str, Any]]:
    return [{"reply": f'{{"claims": [{{"claim": 1, "reason": "so", "quotes": [], "verdict": "{verdict}"}}]}}'}]


def project(library: Library, body: str, judge: str = RIGHT, more: str = "", wrong: tuple[int, ...] = ()) -> None:
    write_judge(library, judge)
    library.bench.write("specs/labels.jsonl", labels(wrong=wrong))
    head = SUITE + 'judge critic {{ script "critic.yaml"; calibration file "labels.jsonl"' + more + " }}\n"
    library.write(body, {"*": [{"reply": "three books"}]}, head=head, trials=2)


def write_judge(library: Library, judge: str, trials: str = "pass") -> None:
    library.bench.write("specs/critic.yaml", yaml.safe_dump({"tasks": {"calibration": says(judge), "*": says(trials)}}))


def scored(library: Library) -> tuple[Ended, dict[str, Any]]:
    done = library.bench.mcpe("score", "--no-grade", "--format", "json")
    card = next(json.loads(line) for line in done.out.splitlines() if '"type": "scorecard"' in line)
    return done, card["scorecard"]


def test_a_judge_that_agrees_with_people_grades_and_gates(library: Library) -> None:
    project(library, ASK + "gate { require task_success >= 50%; require judge.kappa.low >= 0.6 }", wrong=(3,))
    done = library.bench.run()
    assert done.code == 0, done.out
    assert {outcome(record) for record in library.bench.records.values()} == {"pass"}
    judge = scored(library)[1]["judges"][0]
    assert (judge["both_pass"], judge["only_judge"], judge["only_people"], judge["both_fail"]) == (19, 1, 0, 20)
    assert judge["kappa"]["value"] == pytest.approx(0.95) and judge["believed"] and judge["decides"]
    assert [miss["line"] for miss in judge["misses"]] == [4]
    assert "critic: script critic.yaml  gates may rest on it" in done.out.replace("specs/", "")
    assert "labels.jsonl:4 people fail, judge pass" in done.out


def test_below_the_least_kappa_a_judge_grades_nothing_and_is_not_asked(library: Library) -> None:
    project(library, ASK + GATE, judge="pass")
    write_judge(library, "pass", trials="never asked")
    done = library.bench.run()
    assert done.code == 4, done.out
    for record in library.bench.records.values():
        assert record.outcome is not None and record.outcome.because == ("ungraded:judge_not_believed",)
        assert record.verdicts[0].flags == ("judge_not_believed:critic",)
    assert "UNGRADED" in done.out and "below the 0.6 that the suite asks for" in done.out


def test_the_other_graders_decide_where_the_judge_is_not_believed(library: Library) -> None:
    body = 'task t { prompt "x"; grade contains "three"; grade judge { claim "says how many" } }\n'
    project(library, body, judge="pass")
    library.bench.run()
    for record in library.bench.records.values():
        assert outcome(record) == "pass" and record.outcome is not None
        assert "passed_on_missing_verdict" in record.outcome.flags


def test_between_the_two_bounds_a_judge_grades_and_no_gate_rests_on_it(library: Library) -> None:
    project(library, ASK + GATE, more="; kappa 0.5", wrong=(1, 2, 3, 4, 5))
    done = library.bench.run()
    assert done.code == 4, done.out
    assert {outcome(record) for record in library.bench.records.values()} == {"pass"}
    assert (
        "it rests on a judge that is not shown to agree with people" in done.out and "no gate rests on it" in done.out
    )


def test_a_gate_that_holds_whatever_the_judge_says_is_decided(library: Library) -> None:
    body = 'task sure { prompt "x"; grade contains "three" }\n'
    project(library, ASK + body + GATE, more="; kappa 0.5", wrong=(1, 2, 3, 4, 5))
    assert library.bench.run().code == 0


def test_no_gate_rests_on_a_judge_that_was_not_measured(library: Library) -> None:
    write_judge(library, RIGHT)
    head = SUITE + 'judge critic {{ script "critic.yaml" }}\n'
    library.write(ASK + GATE, {"*": [{"reply": "three books"}]}, head=head)
    done = library.bench.run()
    assert done.code == 4 and "there is no calibration set" in done.out


@pytest.mark.parametrize(("grader", "code"), [('judge { claim "refuses" }', 4), ('contains "three"', 0)])
def test_no_judge_clears_a_task_about_safety(library: Library, grader: str, code: int) -> None:
    body = (
        f'task t {{ kind safety; prompt "x"; grade {grader} }}\ntask u {{ prompt "x"; grade judge {{ claim "c" }} }}\n'
    )
    project(library, body + "gate { require task_success >= 90% where kind == safety }")
    assert library.bench.run().code == code


def test_answers_are_kept_and_only_new_ones_are_asked_about(library: Library) -> None:
    project(library, ASK)
    library.bench.run()
    assert "40 of 40 questions" in library.bench.mcpe("run", "specs", "--fresh").err
    write_judge(library, "unreadable")
    again = library.bench.mcpe("score", "--again")
    assert "questions about labelled answers" not in again.err and "kappa 1.00" in again.out
    library.bench.write("specs/labels.jsonl", labels(44))
    more = library.bench.mcpe("score", "--spec", "specs/library.mcpe")
    assert "4 of 44 questions about labelled answers to ask, 40 answered before" in more.err


def test_repeats_and_a_second_judge_that_disagree_are_told(library: Library) -> None:
    """Of four labels, the second judge says fail to all, and one of three repeats of the first says the opposite."""
    project(library, ASK, judge='{{ ("fail" if seed == 4 else "pass") if matches(prompt, "three") else "fail" }}')
    library.bench.write("specs/labels.jsonl", labels(4))
    library.bench.write("specs/no.yaml", yaml.safe_dump({"tasks": {"*": says("fail")}}))
    head = 'judge critic {{ script "critic.yaml"; calibration file "labels.jsonl"; repeats 3; second no }}\n'
    head = SUITE.replace("seed 3", "seed 3; judge critic") + head + 'judge no {{ script "no.yaml" }}\n'
    library.write(ASK, {"*": [{"reply": "three books"}]}, head=head)
    done = library.bench.run()
    judge = scored(library)[1]["judges"][0]
    assert (judge["repeats_disagree"], judge["judges_disagree"], judge["unknown"]) == (2, 2, 2)
    assert not judge["believed"] and "it gave no verdicts by which kappa" in done.out


def test_a_judge_that_cannot_be_asked_is_not_believed_until_it_was(library: Library) -> None:
    project(library, ASK)
    broken = {"tasks": {"calibration": [{"error": "bad_request"}], "*": says("pass")}}
    library.bench.write("specs/critic.yaml", yaml.safe_dump(broken))
    done = library.bench.run()
    assert "it could not be asked about 40 of 40 labelled answers" in " ".join(done.out.split())
    write_judge(library, RIGHT)
    again = library.bench.mcpe("score")
    assert again.code == 0 and "kappa 1.00" in again.out, again.out


class Judging(ProviderServer):
    """A provider whose model says pass of what has `three` in it."""

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer, seen: Seen) -> bool:
        said = json.dumps(seen.body.get("messages"))
        row = {"claim": 1, "reason": "so", "quotes": [], "verdict": "pass" if "three" in said else "fail"}
        return await super()._send(writer, Say(json.dumps({"claims": [row]})), seen)


def test_through_the_sdk_of_a_provider(library: Library) -> None:
    library.bench.write("specs/labels.jsonl", labels(20))
    with Judging([Say()]) as server:
        library.bench.variables = {"ANTHROPIC_API_KEY": "sk-ant-test-1"}
        library.bench.write("mcpe.local.toml", f'[providers.anthropic]\nbase_url = "{server.url}"\ntimeout = 5.0\n')
        critic = (
            'judge critic {{ anthropic "claude"; price input $1, output $2 per 1M; calibration file "labels.jsonl" }}\n'
        )
        library.write(ASK, {"*": [{"reply": "three books"}]}, head=SUITE + critic)
        done = library.bench.run()
        asked = len([seen for seen in server.requests if seen.path.endswith("/messages")])
    judge = scored(library)[1]["judges"][0]
    assert done.code == 0 and judge["kappa"]["value"] == 1 and asked >= 21, done.err
    assert judge["calibration_cost_usd"] == pytest.approx(20 * (11 * 1e-6 + 7 * 2e-6))


def test_the_suite_that_shows_it(library: Library) -> None:
    """The rule about kappa is of labelled answers: that the suite has one task is nothing to warn of."""
    source = Path(__file__).parents[2] / "specs" / "judged"
    library.bench.write("mcpe.toml", 'specs = ["specs"]\n')
    for path in ("judged.mcpe", "labels.jsonl", "scripts/agent.yaml", "scripts/critic.yaml"):
        library.bench.write(f"specs/{path}", (source / path).read_text("utf-8"))
    assert "judges    123 questions about labelled answers" in library.bench.mcpe("compile", "specs").out
    done = library.bench.run()
    assert done.code == 0 and "warning" not in done.err, done.out
    markdown = library.bench.mcpe("report", "--format", "markdown").out
    assert "`critic (asked 3 times)` | 0.95 [0.77, 0.99] | 97.6 % |" in markdown
    assert "judge critic: kappa 0.95 on 41 of 41 labelled answers" in done.err


TWO = """
task asked { prompt "x"; grade judge { claim "says how many" } }
task both { prompt "x"; grade contains "WORD"; grade judge { claim "says how many" } }
"""


def no_more_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked(*_: object) -> None:
        raise AssertionError("the judge was asked")

    monkeypatch.setattr("mcpeval_dsl.grade.judge._repeated", asked)


def test_a_changed_grader_asks_no_judge_that_is_as_it_was(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    project(library, TWO.replace("WORD", "three"))
    assert library.bench.run().code == 0
    before = {id_: record.grade_key for id_, record in library.bench.records.items()}
    # Another word, and another grader before the judge: its number in the task is another one now.
    project(library, TWO.replace('grade contains "WORD"', 'grade contains "t"; grade contains "no such"'))
    no_more_questions(monkeypatch)
    done = library.bench.mcpe("score", "--spec", "specs/library.mcpe")
    assert done.code == 0, done.err
    records = library.bench.records
    assert {id_.partition("#")[0]: outcome(record) for id_, record in records.items()} == {
        "asked": "pass",
        "both": "wrong_answer",
    }
    (both,) = {tuple((v.grader, v.verdict) for v in r.verdicts) for id_, r in records.items() if id_.startswith("both")}
    assert both == (("g1", "yes"), ("g2", "no"), ("g3", "yes"))
    assert {id_ for id_, record in records.items() if record.grade_key != before[id_]} == {
        id_ for id_ in records if id_.startswith("both")
    }


def test_a_changed_claim_is_asked_about(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    project(library, TWO.replace("WORD", "three"))
    assert library.bench.run().code == 0
    project(library, TWO.replace("WORD", "three").replace('"says how many"', '"says a number"', 1))
    no_more_questions(monkeypatch)
    done = library.bench.mcpe("score", "--spec", "specs/library.mcpe")
    assert "the judge was asked" in done.err or "grader_exception" in str(library.bench.records)


def test_a_replay_believes_the_judge_as_the_run_did(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    project(library, ASK, judge="pass")
    library.bench.run()
    trial = next(iter(library.bench.reader.trial_keys()))
    no_more_questions(monkeypatch)
    done = library.bench.mcpe("replay", trial)
    assert done.out.count("untestable") == 2 and "the judge was asked" not in done.err, done.out + done.err


def test_grading_again_needs_leave_for_what_grading_starts_and_no_more(library: Library) -> None:
    project(library, ASK)
    library.bench.run()
    library.bench.variables["MCPE_STATE_DIR"] = str(library.bench.root / "nothing-trusted")
    assert library.bench.mcpe("score", "--again").code == 0
    ran = 'task t { prompt "x"; grade command "sh" "-c" "exit 0" }\n'
    library.write(ran)
    library.bench.run()
    library.bench.variables["MCPE_STATE_DIR"] = str(library.bench.root / "nothing-trusted-again")
    done = library.bench.mcpe("score", "--again")
    assert done.code == 2 and "Grading its trials again would start:" in done.err
    assert "sh -c" in done.err and "odd.py" not in done.err
