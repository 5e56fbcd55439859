"""Plans that someone changed by hand: what a run could not hold to, or would be led astray by, is refused when read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpeval_dsl.plan import files
from mcpeval_dsl.plan.build import build

from . import suites as s


def _plan() -> dict[str, Any]:
    made = build(s.suite(tasks=(s.plain("a"),)))
    assert made.value is not None, made.diagnostics
    plan: dict[str, Any] = json.loads(files.write(made.value))["plans"][0]
    return plan


@pytest.mark.parametrize("name", ["../../outside", "a/b", "/etc", "", "a\0b", "\x1b[31m", ".", "a b"])
def test_a_suite_is_named_by_a_word_since_its_folder_is(name: str) -> None:
    plan = _plan()
    plan["suite"]["name"] = name
    found = files.read(json.dumps(plan).encode())
    assert found.value is None and "suite.name" in found.diagnostics[0].title


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1"])
def test_a_timeout_is_a_finite_number(number: str) -> None:
    plan = _plan()
    plan["servers"][0]["timeout"] = "HERE"
    found = files.read(json.dumps(plan).replace('"HERE"', number).encode())
    assert found.value is None and "servers[0].timeout" in found.diagnostics[0].title


def test_more_trials_than_a_run_can_hold() -> None:
    plan = _plan()
    plan["nodes"][-1]["trials"] = 10**12
    found = files.read(json.dumps(plan).encode())
    assert found.value is None and "at most 10,000,000" in found.diagnostics[0].title


def test_a_number_of_thousands_of_digits() -> None:
    found = files.read(b'{"format": ' + b"9" * 5000 + b"}")
    assert found.value is None and "too many digits" in found.diagnostics[0].title


def test_a_reference_to_nothing() -> None:
    plan = _plan()
    plan["servers"][0]["argv"] = [{"kind": "ref", "path": []}]
    found = files.read(json.dumps(plan).encode())
    assert found.value is None and "argv[0].path" in found.diagnostics[0].title
