"""The script driver as a model: which script is played, strictness, skill, and the same again in every run."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.agents.drivers.script import ScriptDriver
from mcpeval_dsl.agents.model import HostResult
from tests.agents.conversation import ToolBox, context, run, scripted

SOLUTION = """
tasks:
  t:
    - call: {tool: list_issues, arguments: {project: Billing}}
    - call: {tool: get_issue, arguments: {key: "{{ results[0].structured.issues[0].key }}"}}
    - reply: {answer: "{{ results[1].structured.title }}"}
"""


def trials(folder: Path, skill: str, count: int = 60) -> list[tuple[HostResult, ToolBox]]:
    driver = scripted(folder, skill + SOLUTION)
    made = []
    for index in range(1, count + 1):
        box = ToolBox()
        made.append((run(driver, box, context=context(index=index)), box))
    return made


def test_each_trial_may_have_its_own_steps_beside_the_usual_ones(tmp_path: Path) -> None:
    driver = scripted(tmp_path, "tasks:\n  t:\n    steps: [{reply: usual}]\n    trials: {2: [{reply: second}]}\n")
    assert [run(driver, context=context(index=i)).answer.text for i in (1, 2, 3)] == ["usual", "second", "usual"]


def test_a_trial_without_steps_is_a_fault_of_the_script(tmp_path: Path) -> None:
    driver = scripted(tmp_path, "tasks:\n  t:\n    trials: {2: [{reply: second}]}\n")
    result = run(driver)
    assert result.trouble is not None and "nothing is scripted for trial 1" in result.trouble.message


def test_variants_are_chosen_by_the_seed(tmp_path: Path) -> None:
    driver = scripted(tmp_path, "tasks:\n  t:\n    variants: [[{reply: a}], [{reply: b}]]\n")
    said = [run(driver, context=context(index=i)).answer.text for i in range(1, 41)]
    again = [run(driver, context=context(index=i)).answer.text for i in range(1, 41)]
    assert said == again and min(Counter(said).values()) > 8


def test_a_task_nobody_scripted_names_the_nearest(tmp_path: Path) -> None:
    result = run(scripted(tmp_path, "tasks: {label_it: [{reply: x}]}"), context=context("lable_it"))
    assert result.trouble is not None and "did you mean 'label_it'?" in result.trouble.message


def test_a_trial_that_begins_again_begins_at_the_first_step(tmp_path: Path) -> None:
    driver = scripted(tmp_path, SOLUTION)
    assert run(driver).answer.text == run(driver).answer.text == "late"


def test_two_trials_at_once_do_not_meet(tmp_path: Path) -> None:
    from mcpeval_dsl.agents.hosts.loop import LoopHost
    from tests.agents.conversation import assignment, profile

    driver = scripted(tmp_path, SOLUTION)
    host = LoopHost(profile())

    async def both() -> list[HostResult]:
        work = [host.run(assignment(context=context(index=i)), driver, ToolBox()) for i in (1, 2)]
        return list(await asyncio.gather(*work))

    assert [result.answer.text for result in asyncio.run(both())] == ["late", "late"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe", "not UTF-8"),
        (b"tasks: {t: [{repyl: x}]}", "script.yaml:1:14: a step has no 'repyl' [MCPE522]"),
    ],
)
def test_preflight_says_what_is_wrong_with_the_file(content: bytes | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    if content is not None:
        path.write_bytes(content)
    driver = ScriptDriver(path, "script.yaml")
    seen = asyncio.run(driver.preflight())
    assert not seen.ok and words in seen.problem
    result = run(driver)
    assert result.trouble is not None and words in result.trouble.message


def test_perfect_skill_plays_the_solution(tmp_path: Path) -> None:
    for result, box in trials(tmp_path, "skill: {}", 5):
        assert result.answer.text == "late" and len(box.calls) == 2


def test_a_low_skill_strays_about_as_often_as_it_says(tmp_path: Path) -> None:
    made = trials(tmp_path, "skill: {p_right_tool: 0.8, p_right_arguments: 0.9, p_recover: 1}", 150)
    right = sum(
        [call[1:3] for call in box.calls[:2]]
        == [("list_issues", {"project": "Billing"}), ("get_issue", {"key": "B-1"})]
        for _, box in made
    )
    # Both calls right the first time: (0.8 * 0.9)^2 = 0.52.
    assert 55 <= right <= 101
    assert all(result.answer.text == "late" for result, _ in made), "who always recovers always gets there"
    assert any(len(box.calls) > 2 for _, box in made)


def test_who_never_recovers_is_often_wrong_and_never_breaks_the_trial(tmp_path: Path) -> None:
    made = trials(tmp_path, "skill: {p_right_tool: 0.5, p_recover: 0}")
    assert {result.termination for result, _ in made} == {"answered"}
    texts = Counter(result.answer.text for result, _ in made)
    assert texts["late"] < 40 and len(texts) > 1


def test_who_stops_early_answers_without_calls(tmp_path: Path) -> None:
    made = trials(tmp_path, "skill: {p_stop_early: 1}", 3)
    assert [(result.answer.form, len(box.calls)) for result, box in made] == [("given", 0)] * 3


def test_the_same_seed_gives_the_same_trials(tmp_path: Path) -> None:
    skill = "skill: {p_right_tool: 0.6, p_right_arguments: 0.6, p_stop_early: 0.1}"
    first, second = trials(tmp_path, skill, 20), trials(tmp_path, skill, 20)
    assert [box.calls for _, box in first] == [box.calls for _, box in second]


def test_the_reference_of_the_task_can_be_the_solution(tmp_path: Path) -> None:
    facts: dict[str, Any] = {
        "reference": [{"server": "tracker", "tool": "get_issue", "arguments": {"key": "B-2"}}],
        "answer": "done",
    }
    box = ToolBox()
    result = run(scripted(tmp_path, "tasks: {t: {solution: reference}}"), box, context=context(**facts))
    assert result.answer.text == "done" and box.calls[0][:3] == ("tracker", "get_issue", {"key": "B-2"})


def test_usage_is_counted_the_same_every_time_and_costs_nothing(tmp_path: Path) -> None:
    driver = scripted(tmp_path, SOLUTION)
    first, second = run(driver), run(driver)
    assert first.usage == second.usage and first.usage.cost_usd == 0.0
    assert first.usage.input_tokens > first.usage.output_tokens > 0
