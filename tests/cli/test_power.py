from __future__ import annotations

import json
from typing import Any

import pytest

from .projects import Workplace, workplace

__all__ = ["workplace"]


def answer(workplace: Workplace, *arguments: str) -> dict[str, Any]:
    ended = workplace.run("power", *arguments, "--format", "json")
    assert ended.code == 0, ended.err
    first, *rest = [json.loads(line) for line in ended.out.splitlines()]
    assert first["schema"] == "mcpe-power/1"
    (found,) = rest
    return dict(found)


def test_the_paper_s_number(workplace: Workplace) -> None:
    """Miller 2024 §5: ω² = 1/9, no variance within, 3 points: 969 questions."""
    found = answer(workplace, "--effect", "3", "--between", str(1 / 9), "--within", "0")
    assert found["tasks_for_effect"] == [{"points": 3.0, "tasks": 969}]
    assert found["source"] == "as given"


@pytest.mark.parametrize(
    ("arguments", "effects", "tasks"),
    [
        ((), 5, 6),
        (("--effect", "10%"), 1, 0),
        (("--tasks", "30"), 0, 1),
        (("--tasks", "30", "--effect", "10"), 1, 1),
    ],
)
def test_what_is_asked_is_answered(workplace: Workplace, arguments: tuple[str, ...], effects: int, tasks: int) -> None:
    found = answer(workplace, *arguments)
    assert (len(found["tasks_for_effect"]), len(found["effect_for_tasks"])) == (effects, tasks)


def test_more_trials_and_larger_effects_need_fewer_tasks(workplace: Workplace) -> None:
    few, many = (answer(workplace, "--trials", trials)["tasks_for_effect"] for trials in ("1", "10"))
    assert all(a["tasks"] >= b["tasks"] for a, b in zip(few, many, strict=True))
    assert [row["tasks"] for row in few] == sorted((row["tasks"] for row in few), reverse=True)


def test_fewer_tasks_than_a_test_needs_show_nothing(workplace: Workplace) -> None:
    assert answer(workplace, "--tasks", "5")["effect_for_tasks"] == [{"tasks": 5, "points": None}]
    assert "5 tasks show no difference at all" in workplace.run("power", "--tasks", "5").out
    assert answer(workplace, "--effect", "90")["tasks_for_effect"][0]["tasks"] == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--effect", "0"), "--effect is a number of points from 0.01 to 100"),
        (("--effect", "101"), "--effect is a number of points from 0.01 to 100"),
        (("--effect", "1e-300"), "--effect is a number of points from 0.01 to 100"),
        (("--tasks", "1" + "0" * 400), "is not in the range"),
        (("--tasks", "9", "--trials", "1" + "0" * 400), "is not in the range"),
        (("--effect", "9", "--between", "nan"), "--between is a variance of shares, at most 1"),
        (("--effect", "9", "--within", "inf"), "--within is a variance of shares, at most 1"),
        (("--effect", "some"), "--effect is a number of points from 0.01 to 100"),
        (("--effect", "nan"), "--effect is a number of points from 0.01 to 100"),
        (("--tasks", "0"), "'--tasks'"),
        (("--alpha", "1"), "--alpha lies between 0 and 1"),
        (("--power", "0"), "--power lies between 0 and 1"),
        (("--format", "xml"), "--format is text or json"),
        (("no-run",), "no run"),
    ],
)
def test_what_cannot_be_meant_ends_with_2(workplace: Workplace, arguments: tuple[str, ...], said: str) -> None:
    ended = workplace.run("power", *arguments)
    assert ended.code == 2
    assert said in ended.err


def test_it_says_what_is_assumed(workplace: Workplace) -> None:
    assert "both assumed: no run was given" in workplace.run("power").out
    assert answer(workplace)["correlation"] == 0.5
