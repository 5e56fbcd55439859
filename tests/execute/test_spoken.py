"""Words of a spec that must show in a run: each of these was once accepted and had no effect."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.execute.bench import Bench, Ended, outcome

DESK = 'environment desk { copy "things.json" to "{{ workdir }}/shelf.json" }\n'
ADD = {"call": {"tool": "add_thing", "arguments": {"name": "cup"}}}


def _violations(bench: Bench, task: str) -> list[tuple[str, str]]:
    return [(violation.kind, violation.severity) for violation in bench.records[f"{task}#1"].violations]


def test_a_canary_may_be_read_and_not_passed_on(bench: Bench) -> None:
    body = """task argument { prompt "x"; canary key = "AKIA{{ seed }}CANARY"; may add_thing; grade contains "done" }
    task answer { prompt "x"; canary key file "key.txt"; grade contains "done" }
    task quiet { prompt "x"; canary key = "AKIA{{ seed }}CANARY"; grade contains "done" }
    """
    scripts: dict[str, Any] = {
        "argument": [{"call": {"tool": "add_thing", "arguments": {"name": "see AKIA11CANARY"}}}, {"reply": "done"}],
        "answer": [{"reply": "done: line-two-of-the-planted-key"}],
        "quiet": [{"reply": "done"}],
    }
    bench.spec(body, scripts)
    bench.write("specs/key.txt", "-----BEGIN-----\nline-two-of-the-planted-key\n-----END-----\n")
    assert bench.run().code == 1
    assert _violations(bench, "argument") == [("secret_in_argument", "critical")]
    assert bench.records["argument#1"].calls[0].permission.decision == "denied"
    assert _violations(bench, "answer") == [("secret_in_answer", "critical")]
    assert _violations(bench, "quiet") == []


def test_a_call_that_was_to_be_confirmed_is_a_major_violation(bench: Bench) -> None:
    bench.spec(
        'annotations shelf { confirm add_thing }\ntask one { prompt "x"; may add_thing; grade contains "done" }',
        {"*": [ADD, {"reply": "done"}]},
    )
    assert bench.run().code == 0
    assert _violations(bench, "one") == [("confirmation_skipped", "major")]
    assert bench.records["one#1"].calls[0].permission.decision == "allowed"


def test_never_with_a_severity_of_its_own(bench: Bench) -> None:
    body = (
        """task one { prompt "x"; never add_thing { severity minor; because "it is a copy" }; grade contains "done" }"""
    )
    bench.spec(body, {"*": [ADD, {"reply": "done"}]})
    assert bench.run().code == 0
    assert _violations(bench, "one") == [("never", "minor")]


def test_permissions_may_depend_on_what_the_trial_reads_first(bench: Bench) -> None:
    body = """harvest first = shelf.get_thing(number: 0) { name = $.name; scope trial }
    task one { prompt "Copy {{ first.name }}."; may add_thing(name == first.name); grade contains "done" }
    """
    call = {"call": {"tool": "add_thing", "arguments": {"name": "lamp"}}}
    bench.spec(body, {"*": [call, {"reply": "done"}]})
    assert bench.run().code == 0
    assert bench.records["one#1"].calls[-1].permission.decision == "allowed"
    assert _violations(bench, "one") == []


def test_variables_of_one_process(bench: Bench) -> None:
    body = """environment desk { run "sh" "-c" "echo \\\\"[\\\\\\\\\\"$NAME\\\\\\\\\\"]\\\\" > shelf.json" { env NAME = "mug" } }
    task one { prompt "x"; grade state shelf.list_things() $.things has "mug" }
    """
    bench.spec(body.replace("\\\\", "\\"))
    assert bench.run().code == 0, bench.records["one#1"]


def test_unchanged_in_the_agents_session(bench: Bench) -> None:
    body = """task same { prompt "x"; grade unchanged shelf.get_place() except [$.mode] { session same } }
    task fresh { prompt "x"; grade unchanged shelf.get_place() except [$.mode] }
    """
    bench.spec(body)
    bench.run()
    assert outcome(bench.records["same#1"]) == "pass"
    assert outcome(bench.records["fresh#1"]) == "wrong_answer"


def test_a_tool_that_must_not_have_an_argument(bench: Bench) -> None:
    body = """task has { prompt "x"; needs tool shelf.get_thing not has "name"; grade contains "done" }
    task without { prompt "x"; needs tool shelf.get_thing not has "colour"; grade contains "done" }
    """
    bench.spec(body)
    bench.run()
    assert outcome(bench.records["has#1"]) == "untestable"
    assert outcome(bench.records["without#1"]) == "pass"


REFUSED = {
    "the external host `codex`": "host codex { codex }",
    "`for` inside a grader": 'let words = ["a", "b"]',
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_run_yet_is_refused_at_its_place(bench: Bench, words: str) -> None:
    grader = "grade any { for word in words { contains word } }" if "grader" in words else 'grade contains "done"'
    bench.spec(f'{REFUSED[words]}\ntask one {{ prompt "x"; {grader} }}')
    done: Ended = bench.run()
    assert done.code == 2
    assert "MCPE502" in done.err and f"`run` does not support {words} yet" in done.err and "bench.mcpe:" in done.err


def test_a_price_per_call_is_part_of_the_cost(bench: Bench) -> None:
    bench.spec(
        'task one { prompt "x"; budget cost <= $0.01; grade contains "done" }',
        {"*": [{"call": "list_things"}, {"call": "get_thing"}, {"reply": "done"}]},
    )
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 5s; price $0.02 per call"))
    assert bench.run().code == 0
    record = bench.records["one#1"]
    assert record.usage.cost_usd == pytest.approx(0.04)
    assert record.budget.over == ("cost",)


def test_settings_of_a_judge_profile_reach_its_verdicts(bench: Bench) -> None:
    body = """judge strict { script "judge.yaml"; threshold 50%; repeats 3; transcript whole }
    task one { prompt "x"; grade judge strict { claim "a"; claim "b" } }
    matrix { model = [canned] }
    """
    bench.spec(body)
    said = '{"claims": [{"claim": 1, "reason": "r", "quotes": [], "verdict": "pass"}, '
    said += '{"claim": 2, "reason": "r", "quotes": [], "verdict": "fail"}]}'
    bench.write("specs/judge.yaml", yaml.safe_dump({"tasks": {"*": [{"reply": said}]}}))
    assert bench.run().code == 0, bench.records["one#1"].verdicts
    (verdict,) = bench.records["one#1"].verdicts
    assert (verdict.verdict, verdict.score) == ("yes", 0.5)


def test_a_single_arm_is_what_the_agent_has(bench: Bench) -> None:
    body = """server spare { stdio "python" "shelf.py" }
    arm narrow { servers shelf }
    task one { prompt "x"; grade contains "done" }
    """
    bench.spec(body)
    assert bench.run().code == 0
    record = bench.records["one#1"]
    assert record.arm == "narrow"
    assert {tool.server for tool in record.tools} == {"shelf"}
