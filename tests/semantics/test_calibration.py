"""Labelled answers: what files of them may say, and what is told of those that cannot be used."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.semantics.graders import Labelled
from tests.semantics.memory import Memory

SPEC = """model sonnet {{ anthropic "claude-sonnet-4-5" }}
judge strict {{ anthropic "claude-opus-4-5"; calibration file "{file}"; kappa 0.7 }}
task ask {{ prompt "How many?"; grade judge {{ claim "says how many" }} }}
"""
FIRST = Labelled("says how many", "Three.", True)
SECOND = Labelled("says how many", "Some.", False, "How many?")


def check(file: str, text: str) -> tuple[list[Labelled], list[str]]:
    checked = pipeline.check("a.mcpe", Memory({"a.mcpe": SPEC.format(file=file), file: text}))
    assert checked.value is not None
    found = checked.value.calibrations
    assert [each.kappa for each in found] == [0.7]
    return list(found[0].labels), [d.title for d in checked.diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    ("file", "text", "lines"),
    [
        (
            "labels.jsonl",
            '{"claim": "says how many", "answer": "Three.", "verdict": "pass"}\n\n'
            '{"claim": "says how many", "answer": "Some.", "verdict": false, "task": "How many?"}\n',
            (1, 3),
        ),
        (
            "labels.json",
            '[{"claim": "says how many", "answer": "Three.", "verdict": 1},'
            '{"claim": "says how many", "answer": "Some.", "verdict": "no", "task": "How many?"}]',
            (1, 2),
        ),
        (
            "labels.yaml",
            "- {claim: says how many, answer: Three., verdict: yes}\n"
            '- {claim: says how many, answer: Some., verdict: fail, task: "How many?"}\n',
            (1, 2),
        ),
        (
            "labels.csv",
            "claim,answer,verdict,task\nsays how many,Three.,PASS,\nsays how many,Some.,0,How many?\n",
            (2, 3),
        ),
    ],
)
def test_forms_of_the_file(file: str, text: str, lines: tuple[int, int]) -> None:
    from dataclasses import replace

    found, errors = check(file, text)
    assert errors == []
    assert found == [replace(each, line=line) for each, line in zip((FIRST, SECOND), lines, strict=True)]


def test_a_transcript_is_shown_as_one() -> None:
    rows = (
        '{"claim": "c", "transcript": "CALL x", "verdict": "pass"}\n{"claim": "c", "answer": "y", "verdict": "fail"}\n'
    )
    found, errors = check("labels.jsonl", rows)
    assert errors == [] and [label.whole for label in found] == [True, False]


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("labels.jsonl", "", "it is empty, and a judge is measured on both"),
        ("labels.jsonl", "{", "line 1 is no JSON object"),
        ("labels.jsonl", "[1]", "entry 1 is no object"),
        ("labels.jsonl", '{"claim": "c", "answer": "a"}', "the `verdict` of entry 1 is neither pass nor fail"),
        ("labels.jsonl", '{"claim": "c", "answer": "a", "verdict": "4/5"}', "the `verdict` of entry 1 is neither"),
        ("labels.jsonl", '{"claim": " ", "answer": "a", "verdict": "pass"}', "entry 1 has no text `claim`"),
        ("labels.jsonl", '{"claim": "c", "verdict": "pass"}', "entry 1 has no text `answer`"),
        (
            "labels.jsonl",
            '{"claim": "c", "answer": "a", "verdict": "pass", "by": "x"}',
            "entry 1 has `by`, which is none",
        ),
        ("labels.jsonl", '{"claim": "c", "answer": "a", "verdict": "pass"}', "people said pass to all of them"),
        ("labels.json", "[", "Expecting value"),
        ("labels.json", "{}", "it holds no list"),
        ("labels.yaml", "a: [", "while parsing a flow node"),
        ("labels.jsonl", "[" * 100_000, "line 1 is no JSON object"),
    ],
)
def test_what_cannot_be_used(file: str, text: str, why: str) -> None:
    found, errors = check(file, text)
    assert found == [] and len(errors) == 1
    assert errors[0].startswith(f"the labelled answers in `{file}` cannot be used: ") and why in errors[0]
