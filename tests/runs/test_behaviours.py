"""Behaviours that `expect` names, in a whole run: published with n and interval, shown in each report, and held to by a gate."""

from __future__ import annotations

import json

import pytest

from tests.execute.bench import Bench

BODY = """
task asks {
  prompt "Remove it."
  expect question
  grade contains "thing"
}
task acts {
  prompt "Remove the vase, but ask first."
  expect confirmation
  grade contains "vase"
}
task plain { prompt "Say done."; grade contains "done" }
gate { require RULE }
"""
SCRIPTS = {
    "asks": [{"reply": "Which thing do you mean?"}],
    "acts": [{"reply": "I removed the vase."}],
    "plain": [{"reply": "done"}],
}


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ("behaviour.question >= 80%", "PASS"),
        ("behaviour.question.low >= 80%", "FAIL"),
        ("behaviour.confirmation >= 50%", "FAIL"),
        ("behaviour.recovery >= 50%", "NOT DECIDED"),
    ],
)
def test_a_gate_on_a_behaviour(bench: Bench, rule: str, word: str) -> None:
    bench.spec(BODY.replace("RULE", rule), SCRIPTS, trials=4)
    done = bench.run()
    card = json.loads(bench.scorecard)
    assert card["gate"]["word"] == word, done.out


def test_they_are_published_with_n_and_interval(bench: Bench) -> None:
    bench.spec(BODY.replace("RULE", "task_success >= 10%"), SCRIPTS, trials=4)
    done = bench.run()
    (cell,) = json.loads(bench.scorecard)["cells"]
    asked, leave = cell["behaviours"]["question"], cell["behaviours"]["confirmation"]
    assert (asked["value"], asked["trials"], asked["tasks"], asked["high"]) == (1.0, 4, 1, 1.0)
    assert asked["low"] == pytest.approx(0.025 ** (1 / 4))  # Clopper–Pearson, 4 of 4
    assert (leave["value"], leave["low"]) == (0.0, 0.0)
    assert set(cell["behaviours"]) == {"question", "confirmation"}
    said = "question 100.0 % [39.8, 100.0] of 4 trials; confirmation 0.0 % [0.0, 60.2] of 4 trials"
    assert f"expect {said}" in done.out
    assert f"Expected in `canned`: {said}." in bench.mcpe("report", "--format", "markdown").out
