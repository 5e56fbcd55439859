"""The replay driver: a stored trial again, and the first difference where it is not the same."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.agents.drivers.replay import ReplayDriver
from mcpeval_dsl.agents.model import CallReply, HostResult
from tests.agents.conversation import ToolBox, assignment, context, run, scripted
from tests.agents.drivers.test_script import SOLUTION


def stored(folder: Path) -> tuple[HostResult, dict[str, Any]]:
    result = run(scripted(folder, SOLUTION))
    record = {
        "id": "t@cell#1",
        "task": "t",
        "trial": 1,
        "prompt": assignment().prompt,
        "system": result.system,
        "tool_names": result.tool_names,
        "turns": [asdict(turn) for turn in result.turns],
    }
    return result, json.loads(json.dumps(record))


def replayed(record: Any, folder: Path, box: ToolBox | None = None, **changes: Any) -> HostResult:
    path = folder / "record.json"
    path.write_text(json.dumps(record), "utf-8")
    return run(ReplayDriver(path, "record.json"), box, **changes)


@pytest.mark.parametrize("wrap", [lambda record: record, lambda record: [record]], ids=["one", "list"])
def test_the_same_trial_again(wrap: Any, tmp_path: Path) -> None:
    result, record = stored(tmp_path)
    again = replayed(wrap(record), tmp_path)
    assert (again.answer, again.termination) == (result.answer, "answered")
    assert [t.requests for t in again.turns] == [t.requests for t in result.turns]
    assert again.usage.cost_usd == 0.0


@pytest.mark.parametrize(
    ("changes", "box", "words"),
    [
        ({"prompt": "Which issue is lost?"}, None, "turn 1: the prompt differs at character 17"),
        ({"system": "Other."}, None, "turn 1: the system prompt differs"),
        ({"tools": assignment().tools[:1]}, None, "turn 1: the tools on offer differ: get_issue"),
        ({}, ToolBox(lambda t, a: CallReply("c", "other", False)), "turn 2: the answer to call call_1_1 differs"),
    ],
)
def test_the_first_difference_is_named(
    changes: dict[str, Any], box: ToolBox | None, words: str, tmp_path: Path
) -> None:
    _, record = stored(tmp_path)
    again = replayed(record, tmp_path, box, **changes)
    assert again.trouble is not None and again.trouble.chain == ("script:unexpected",)
    assert words in again.trouble.message


def test_a_stored_trial_that_is_too_short_or_too_long(tmp_path: Path) -> None:
    _, record = stored(tmp_path)
    short = replayed({**record, "turns": record["turns"][:2]}, tmp_path)
    assert short.trouble is not None and short.trouble.chain == ("script:exhausted",)
    long = replayed({**record, "turns": [*record["turns"], record["turns"][-1]]}, tmp_path)
    assert long.trouble is not None and long.trouble.chain == ("script:unused_steps",)


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "cannot be read"), ("nothing", "is not JSON"), ("{}", "holds no trial record"), ("[1]", "holds no trial")],
)
def test_preflight_says_what_is_wrong_with_the_file(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    if text is not None:
        path.write_text(text, "utf-8")
    seen = asyncio.run(ReplayDriver(path).preflight())
    assert not seen.ok and words in seen.problem


def test_a_trial_that_is_not_in_the_file(tmp_path: Path) -> None:
    _, record = stored(tmp_path)
    again = replayed(record, tmp_path, context=context("other"))
    assert again.trouble is not None and "has no trial" in again.trouble.message


def test_folders_of_the_stored_trial_stand_for_those_of_this_one(tmp_path: Path) -> None:
    _, record = stored(tmp_path)
    old = json.loads(json.dumps(record).replace("Which issue is late?", "Read /trials/1/desk/a.txt"))
    old["scope"] = {"workdir": "/trials/1/desk"}
    prompt = "Read /trials/2/desk/a.txt"
    moved = replayed(old, tmp_path, prompt=prompt, context=context(workdir="/trials/2/desk"))
    assert moved.termination == "answered"
    assert replayed(old, tmp_path, prompt=prompt).trouble is not None
