"""What labelled answers say of a judge, on judges whose verdicts and published agreement are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.grade import calibration
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.score.judge_model import JudgeScore
from mcpeval_dsl.score.judges import judge_scores, unbelieved
from mcpeval_dsl.semantics.graders import Calibration, Labelled
from tests.plan import suites as s

KNOWN = [
    row
    for line in (Path(__file__).parents[1] / "statistics" / "vectors.json").read_text("utf-8").splitlines()
    if '"judge_vs_human"' in line
    for row in [json.loads(line.strip().rstrip(","))]
]


def plan_of(people: str, kappa: float = 0.6) -> Plan:
    labels = tuple(Labelled("solved", f"answer {n}", bit == "1", line=n) for n, bit in enumerate(people, start=1))
    suite = s.with_task(graders=(s.judged(),))
    return s.made(replace(suite, calibrations=(Calibration("sonnet", "labels.jsonl", labels, kappa),)))


def answers(plan: Plan, words: list[Any]) -> list[JudgementRecord]:
    """One record for each question, in order of the labels; None leaves it unanswered."""
    due = calibration.questions(plan)
    return [
        JudgementRecord(id=str(n), key=each.key, judge=each.judge, verdict=word, cost_usd=0.5)
        for n, (each, word) in enumerate(zip(due, words, strict=True))
        if word is not None
    ]


def scored(people: str, words: list[Any], kappa: float = 0.6) -> JudgeScore:
    plan = plan_of(people, kappa)
    (found,) = judge_scores(plan, answers(plan, words))
    assert (found.reason in unbelieved([found]).values()) == (not found.believed)
    return found


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["id"])
def test_judges_with_published_agreement(row: dict[str, Any]) -> None:
    given, expected = row["inputs"], row["expected"]
    found = scored(given["human"], ["pass" if bit == "1" else "fail" for bit in given["rater"]])
    for name in ("agreement", "kappa", "sensitivity", "specificity"):
        value = getattr(found, name)
        assert value.value == pytest.approx(expected[name]), name
        assert value.low < value.value < value.high
    assert found.believed == (expected["kappa"] >= 0.6)
    assert not found.decides, "with 95 labels none of them is shown to reach 0.6"
    assert found.calibration_cost_usd == pytest.approx(0.5 * len(given["human"]))


@pytest.mark.parametrize(
    ("people", "words", "kappa", "believed", "decides", "reason"),
    [
        ("10" * 20, ["pass", "fail"] * 20, 0.6, True, True, ""),
        ("10" * 3, ["pass", "fail"] * 3, 0.6, True, False, "the low end of its kappa"),
        ("10" * 20, ["fail", "pass"] * 20, 0.6, False, False, "its kappa is -1.00, below the 0.6"),
        ("10" * 20, ["pass"] * 40, 0.0, True, False, "the low end of its kappa"),
        ("10" * 20, ["unknown"] * 40, 0.6, False, False, "it gave no verdicts"),
        ("10" * 20, ["pass", None] * 20, 0.6, False, False, "it could not be asked about 20 of 40"),
        ("10" * 20, ["pass", "fail"] * 18 + [None] * 4, 0.6, True, True, ""),
        (
            "10" * 20,
            ["pass", "fail"] * 17 + ["pass"] + [None] * 5,
            0.6,
            False,
            False,
            "it could not be asked about 5 of 40",
        ),
    ],
)
def test_what_follows(people: str, words: list[Any], kappa: float, believed: bool, decides: bool, reason: str) -> None:
    found = scored(people, words, kappa)
    assert (found.believed, found.decides) == (believed, decides)
    assert found.reason.startswith(reason) and bool(found.reason) == bool(reason)


def test_answers_left_open_are_in_no_share() -> None:
    found = scored("10" * 20, ["pass", "fail"] * 10 + ["unknown"] * 20)
    assert found.unknown == 20 and found.kappa is not None and (found.kappa.value, found.kappa.of) == (1.0, 20)


def test_an_answer_to_something_else_is_no_answer() -> None:
    plan = plan_of("10" * 20)
    other = [record.model_copy(update={"key": f"{n}"}) for n, record in enumerate(answers(plan, ["pass"] * 40))]
    (found,) = judge_scores(plan, other)
    assert found.failed == 40
