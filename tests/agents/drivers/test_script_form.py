"""Reading scripts: every mistake at its place, and nothing that can hurt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.agents.drivers.script_form import faults, load_script
from mcpeval_dsl.diagnostics.registry import info

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "bad_scripts.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["said"] for case in CASES])
def test_a_mistake_is_said_at_its_place(case: dict[str, Any]) -> None:
    checked = load_script("s.yaml", case["script"])
    assert checked.value is None
    first = checked.diagnostics[0]
    place, part = case["said"].split(": ", 1)
    assert f"{first.at} {first.code}".removeprefix("s.yaml:").endswith(place)
    assert part in f"{first.title} {first.body} {first.hint}"
    assert info(first.code) is not None


def test_independent_mistakes_are_all_reported() -> None:
    text = "tasks:\n  a: [{repyl: x}]\n  b: [{reply: ok}]\n  c: [{error: raet}, {stop: nope}]\n"
    assert [(d.at.line if d.at else 0) for d in load_script("s.yaml", text).diagnostics] == [2, 4, 4]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)),
        "tasks: " + "[" * 100_000,
        "x" * 1_000_001,
        "tasks:\n" + "".join(f"  t{i}: [{{reply: x}}]\n" for i in range(20_000)),
    ],
    ids=["aliases", "depth", "size", "count"],
)
def test_a_bomb_is_refused_cheaply(text: str) -> None:
    checked = load_script("s.yaml", text)
    assert [d.code for d in checked.diagnostics] == ["MCPE521"]


def test_aliases_and_dates_mean_what_they_show() -> None:
    text = "tasks:\n  a: &steps [{call: {tool: x, arguments: {since: 2026-03-01}}}, {reply: done}]\n  b: *steps\n"
    script = load_script("s.yaml", text).value
    assert script is not None
    arguments = script.tasks[1].variants[0][0].calls[0].arguments
    assert arguments["since"].text == "2026-03-01"


def test_a_task_is_found_by_its_name_before_any_glob() -> None:
    script = load_script("s.yaml", "tasks:\n  'read_*': [{reply: a}]\n  read_one: [{reply: b}]\n").value
    assert script is not None
    found = [script.for_task(name) for name in ("read_one", "read_two", "write")]
    assert [entry.pattern if entry else None for entry in found] == ["read_one", "read_*", None]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (IsADirectoryError(21, "Is a directory"), ["the script s.yaml cannot be read: it is a folder"]),
        (PermissionError(13, "Permission denied"), ["the script s.yaml cannot be read: Permission denied"]),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ["the script s.yaml cannot be read: it is no UTF-8 text"]),
        (FileNotFoundError(2, "No such file"), []),  # said where the spec names it
    ],
    ids=["folder", "permission", "bytes", "absent"],
)
def test_a_script_that_cannot_be_read_is_said(error: Exception, said: list[str]) -> None:
    def read(path: str) -> bytes:
        raise error

    assert [d.title for d in faults(["s.yaml"], read)] == said


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_answered_with_diagnostics(text: str) -> None:
    checked = load_script("s.yaml", text)
    assert checked.value is not None or checked.diagnostics
    assert load_script("s.yaml", "tasks:\n  t: [{reply: " + repr(text) + "}]").diagnostics is not None
