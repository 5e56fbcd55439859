"""Every pure grader over records, as tables: grader and facts in, verdict out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.grade.registry import MODULES, grade
from tests.grade.building import PLACE, SERVICES, grader, record
from tests.values.shorthand import cases

CASES = [
    (file, number, case) for file in ("answers", "state", "calls") for number, case in enumerate(cases(file, __file__))
]


def _name(case: dict[str, Any]) -> str:
    return str(case.get("name") or f"{case['grader']} <- {case.get('answer', case.get('trouble'))}")


@pytest.mark.parametrize(
    "case", [case for _, _, case in CASES], ids=[f"{file}: {_name(case)}" for file, _, case in CASES]
)
def test_verdict(case: dict[str, Any]) -> None:
    found = asyncio.run(grade(grader(case["grader"]), record(case), SERVICES))
    assert found.verdict == case["verdict"], (found.actual, found.expected, found.reason)
    assert found.missing_because == case.get("because", "")
    for key in ("actual", "expected", "score"):
        if key in case:
            assert getattr(found, key) == case[key]
    for key in ("flags", "evidence"):
        if key in case:
            assert list(getattr(found, key)) == case[key]


def test_every_pure_kind_has_cases() -> None:
    covered = {next(iter(case["grader"])) for _, _, case in CASES}
    assert covered | {"judge", "command", "python"} == {*MODULES, "any"}


def test_a_verdict_carries_its_place_and_weight() -> None:
    found = asyncio.run(grade(grader({"exact": "x", "weight": 0}), record(answer="y"), SERVICES))
    assert (found.at, found.deciding, found.weight) == (PLACE, False, 0.0)
    assert (found.grader, found.kind, found.actual, found.expected) == ("g1", "exact", '"y"', '"x"')


def test_a_pattern_may_name_the_catalogue_of_a_server() -> None:
    services = replace(SERVICES, catalogues={"git_2026": "git"})
    facts = record(calls=[{"tool": "git_log", "server": "git_2026"}])
    for name, right in (("git.git_log", "yes"), ("git_2026.git_log", "yes"), ("git_2025.git_log", "no")):
        assert asyncio.run(grade(grader({"calls": [name]}), facts, services)).verdict == right
