from __future__ import annotations

import pytest

from mcpeval_dsl.report.comparison import render
from mcpeval_dsl.score import comparison as published
from mcpeval_dsl.score.model import Counts, Delta, Overhead, Rate

EVIL = "x\x1b[31m\x07\u202e\ny"
DELTA = Delta(value=-0.2, low=-0.4, high=0.1, p=0.02, p_adjusted=0.04, tasks=9, clusters=9, word="worse")
RATE = Rate(value=0.6, low=0.3, high=0.8, tasks=9, trials=27, clusters=9, method="x")


def full(text: str, **changes: object) -> published.RunComparison:
    values: dict[str, object] = {
        "run": text,
        "baseline": text,
        "suite": text,
        "verdict": "regression",
        "because": (text,),
        "differences": (published.Difference(name="models", text=text, accepted=True),),
        "changes": (published.Change(component="version", server=text, text=text),),
        "cause": text,
        "tasks": 9,
        "only_run": (text,),
        "only_baseline": (text,),
        "cells": (
            published.CellDifference(
                cell=text,
                baseline_cell=text,
                split="heldout",
                counts=Counts(),
                baseline_counts=Counts(),
                success=RATE,
                baseline_success=None,
                difference=DELTA,
                calls_difference=DELTA.model_copy(update={"low": None, "p_adjusted": 0.0001}),
                overheads=(Overhead(what="cost_usd", reason=text), Overhead(what="calls", value=-1.5, low=-2, high=0)),
            ),
        ),
        "flips": (
            published.Flip(
                instance=text,
                cell=text,
                split="train",
                direction="lost",
                passed=1,
                testable=5,
                baseline_passed=5,
                baseline_testable=5,
            ),
        ),
        "components": (published.ComponentResult(text=text, component=text, word="FAIL", cell=text, reason=text),),
        "defects": (
            published.DefectChange(kind=text, server=text, tool=text, argument=text, confirmed=False, direction="new"),
        ),
        "violations": (published.ViolationChange(kind=text, severity="major", tool=text, trials=2, baseline_trials=0),),
        "overfit": (published.OverfitGap(cell=text, value=0.2, low=-0.1, high=0.5, train=0.3, heldout=0.1),),
        "notes": (text,),
        "exit_code": 1,
    }
    return published.RunComparison(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("colour", [False, True])
def test_nothing_of_a_run_is_obeyed_by_a_terminal(colour: bool) -> None:
    text = render(full(EVIL), colour)
    ours = ("\x1b[32;1m", "\x1b[31;1m", "\x1b[33;1m", "\x1b[2m", "\x1b[1m", "\x1b[0m") if colour else ()
    for code in ours:
        text = text.replace(code, "")
    assert not {character for character in text if ord(character) < 32} - {"\n"}
    assert "\u202e" not in text


def test_every_line_fits_a_terminal() -> None:
    assert max(len(line) for line in render(full("name-of-some-length-" * 9)).splitlines()) <= 118


def test_the_verdict_comes_first_and_the_exit_code_last() -> None:
    lines = render(full("tracker")).splitlines()
    assert lines[:3] == ["tracker over tracker (tracker)", "REGRESSION", "  because tracker"]
    assert lines[-1] == "exit 1: a regression is shown"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("no difference shown", "no difference shown (could have seen ≥ 21 points)"),
        ("insufficient data", "insufficient data"),
        ("better", "better"),
    ],
)
def test_the_word_says_what_could_have_been_seen(word: str, said: str) -> None:
    delta = DELTA.model_copy(update={"word": word, "detectable": 0.21})
    cell = full("x").cells[0].model_copy(update={"difference": delta, "calls_difference": None})
    assert said in render(full("x", cells=(cell,)))


def test_a_refusal_says_how_to_go_on() -> None:
    unequal = (published.Difference(name="graders", text="t1"), published.Difference(name="hosts", text="loop"))
    text = render(full("x", verdict="refused", differences=unequal, cells=(), exit_code=2))
    assert "to compare all the same: --accept graders --accept hosts" in text
    assert "SUCCESS" not in text


def test_intervals_of_differences_have_signs() -> None:
    delta = Delta(value=-0.04, low=-0.12, high=0.04, p=0.3, tasks=9, word="no difference shown")
    gap = published.OverfitGap(cell="m", value=0.1, low=-0.02, high=0.22, train=0.1, heldout=0.0)
    found = full("x")
    cell = found.cells[0].model_copy(update={"difference": delta})
    text = render(found.model_copy(update={"cells": (cell,), "overfit": (gap,), "heldout_looks": 3}))
    assert "[−12.0, +4.0]" in text and "[−2.0, +22.0]" in text
    assert "held-out tasks: look 3 (each makes them less held out)" in text
    assert "held-out" not in render(found.model_copy(update={"overfit": ()}))


def test_held_out_calls_are_told_from_the_others() -> None:
    held = full("m").cells[0]
    text = render(full("m", cells=(held.model_copy(update={"split": "train"}), held)))
    assert text.count("  m: mean calls") == text.count("  m (heldout): mean calls") == 1
