"""Checks in `mcpe run`: before the trials, kept with the run, on the scorecard, in its gate and its exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.records.folder import runs
from tests.execute.bench import Bench, Ended

TASK = 'task look { prompt "Look."; grade contains "done" }\n'


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "project").mkdir()
    return Bench(tmp_path / "project")


def ran(bench: Bench, check: str, rest: str = "", task: str = TASK) -> tuple[Ended, dict[str, Any]]:
    bench.spec(f"{task}check shelf {{ {check} }}\n{rest}")
    done = bench.run()
    return done, json.loads(bench.scorecard)


@pytest.mark.parametrize(
    ("check", "gate", "code", "word"),
    [
        ("tool list_things present", "", 0, "PASS"),
        ("tool list_things absent", "", 1, "FAIL"),
        ("tool list_things absent", "gate { require checks.failed <= 1 }", 0, "PASS"),
        ("tool list_things absent", "gate { require checks.failed == 0 }", 1, "FAIL"),
        ("tool list_things present; tool x absent", "gate { require checks.passed >= 2 }", 0, "PASS"),
        ("oauth metadata", "", 4, "NOT DECIDED"),
        ("oauth metadata", "gate { require checks.failed == 0 }", 0, "PASS"),
        ("shelf.get_nothing()", "", 3, "NOT DECIDED"),
        ("shelf.get_nothing()", "gate { require checks.failed == 0 }", 3, "NOT DECIDED"),
    ],
)
def test_gate_and_exit_code(bench: Bench, check: str, gate: str, code: int, word: str) -> None:
    done, card = ran(bench, check, gate)
    assert (done.code, card["gate"]["word"]) == (code, word), done.out
    assert card["cells"][0]["counts"]["passed"] == 1 and "CHECKS" in done.out


def test_they_are_carried_out_once(bench: Bench) -> None:
    ran(bench, "tool list_things present; latency p95 <= 5s over 2 calls")
    first = bench.scorecard
    again = bench.run()
    assert "0 of 1 trials to run" in again.err and bench.scorecard == first and len(runs(bench.root)) == 1
    (record,) = bench.reader.checks()
    assert [line.state for line in record.lines] == ["pass", "pass"] and set(record.lines[1].measured) >= {"p50", "p95"}
    assert b"p95" not in first.replace(b"latency p95", b"")


def test_measured_latencies_are_shown_in_every_report(bench: Bench) -> None:
    done, _ = ran(bench, "tool list_things present; latency p95 <= 5s over 2 calls")
    times = r"latency p95 over 2 calls: mean [\d.]+ ms, p50 [\d.]+ ms, p95 [\d.]+ ms, max [\d.]+ ms"
    for text in (done.out, bench.mcpe("score").out, bench.mcpe("report", "--format", "markdown").out):
        assert re.search(times, text), text
    line = json.loads(bench.mcpe("score", "--format", "json").out.splitlines()[2])
    (check,) = line["checks"]
    assert (line["type"], check["server"], check["state"]) == ("timings", "shelf", "pass")
    assert 0 < check["measured"]["p50"] <= check["measured"]["max"]
    without, _ = ran(bench, "tool list_things present")
    assert "p50" not in without.out


def test_what_could_not_be_tested_is_tried_again(bench: Bench) -> None:
    script = bench.root / "specs/shelf.py"
    done, card = ran(bench, "shelf.get_nothing(); tool list_things present")
    assert done.code == 3 and [line["state"] for line in card["checks"][0]["lines"]] == ["not tested", "pass"]
    assert script.exists() and len(bench.reader.checks()) == 1
    assert bench.run().code == 3 and len(bench.reader.checks()) == 1


def test_a_failed_check_on_a_server_that_does_not_start_is_no_infrastructure(bench: Bench) -> None:
    """The server speaks another revision than it claims: no trial can be tested, and a check knows why."""
    bench.spec(TASK + 'check shelf { protocol "2025-06-18" rejected; protocol "2026-07-28" supported }\n')
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace('"shelf.py";', '"shelf.py"; protocol "2026-07-28";'))
    done = bench.run()
    assert done.code == 1, done.out
    card = json.loads(bench.scorecard)
    assert card["cells"][0]["counts"]["untestable"] == 1 and card["gate"]["word"] == "FAIL"


def test_a_suite_of_checks_alone(bench: Bench) -> None:
    done, card = ran(bench, "tool list_things present", task="")
    assert (done.code, card["gate"]["word"], card["planned"]) == (0, "PASS", 0), done.out
    done, card = ran(bench, "tool list_things absent", task="")
    assert (done.code, card["gate"]["word"]) == (1, "FAIL")


def test_checks_are_selected_like_trials(bench: Bench) -> None:
    bench.spec(TASK + "check shelf { tool list_things absent }\n")
    bench.trust()
    assert bench.mcpe("run", "specs", "--select", "task:look").code == 0
    assert bench.mcpe("run", "specs", "--select", "check:shelf").code == 1
