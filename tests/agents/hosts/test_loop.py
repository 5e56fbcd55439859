"""How trials end in the loop: each case is a script and its ending."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpeval_dsl.agents.hosts.loop import LoopHost
from mcpeval_dsl.agents.model import CallReply, HostResult, Settings, Termination
from mcpeval_dsl.gateway.model import ToolDefinition
from tests.agents.conversation import GET, LIST, ToolBox, assignment, profile, run, scripted

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "conversations.yaml").read_text("utf-8"))


def play(folder: Path, steps: list[Any], box: ToolBox | None = None, **changes: Any) -> HostResult:
    return run(scripted(folder, yaml.safe_dump({"tasks": {"t": steps}}, sort_keys=False)), box, **changes)


@pytest.mark.parametrize("case", CASES, ids=[case["say"] for case in CASES])
def test_ending(case: dict[str, Any], tmp_path: Path) -> None:
    box = ToolBox()
    result = play(tmp_path, case["steps"], box, host=profile(**case.get("host", {})), **case.get("assignment", {}))
    ends, answer, trouble = case["ends"], result.answer, result.trouble
    seen = {
        "termination": result.termination,
        "form": answer.form,
        "text": answer.text,
        "reasoning": answer.reasoning,
        "feedback": answer.feedback,
        "structured": answer.structured,
        "parsed": answer.parsed,
        "trouble": trouble.kind if trouble else None,
        "when": trouble.when if trouble else None,
        "chain": list(trouble.chain) if trouble else None,
        "turns": len(result.turns),
        "waited_ms": result.waited_ms,
        "retries": sum(turn.retries for turn in result.turns),
    }
    texts = {"message": trouble.message if trouble else "", "finding": "\n".join(result.findings)}
    assert {key: seen[key] for key in ends if key in seen} == {key: ends[key] for key in ends if key in seen}
    for key, text in texts.items():
        assert ends.get(key, "") in text
    if "calls" in case:
        assert [call[1] for call in box.calls] == case["calls"]


@pytest.mark.parametrize("stop", ["hard_budget:calls", "server_dead", "drift"])
def test_the_gateways_word_ends_the_trial_after_that_turn(stop: Termination, tmp_path: Path) -> None:
    box = ToolBox(lambda tool, arguments: CallReply("c1", "no more", True, stop))
    result = play(tmp_path, [{"call": "list_issues"}, {"reply": "never said"}], box)
    assert (result.termination, result.trouble, result.answer.form) == (stop, None, "none")
    assert result.turns[0].answers[0].text == "no more"


def test_one_after_the_other_the_first_stop_leaves_the_rest_uncalled(tmp_path: Path) -> None:
    box = ToolBox(lambda tool, arguments: CallReply("c1", "no more", True, "hard_budget:calls"))
    steps = [{"calls": ["list_issues", "get_issue"]}]
    play(tmp_path, steps, box, host=profile(parallel_tools=False))
    assert len(box.calls) == 1


def test_parallel_calls_overlap(tmp_path: Path) -> None:
    under_way: list[int] = []
    most = 0

    class Slow(ToolBox):
        async def __call__(self, *arguments: Any) -> CallReply:
            nonlocal most
            under_way.append(1)
            most = max(most, len(under_way))
            await asyncio.sleep(0.01)
            under_way.pop()
            return CallReply("c", "x", False)

    play(tmp_path, [{"calls": ["list_issues", "list_issues", "list_issues"]}, {"reply": "x"}], Slow())
    assert most == 3
    play(
        tmp_path,
        [{"calls": ["list_issues", "list_issues"]}, {"reply": "x"}],
        Slow(),
        settings=Settings(parallel_tools=False),
    )
    assert most == 3


def test_long_results_are_cut_in_the_middle_and_it_is_said(tmp_path: Path) -> None:
    box = ToolBox(lambda tool, arguments: CallReply("c9", "a" * 1000 + "z" * 1000, False))
    result = play(tmp_path, [{"call": "list_issues"}, {"reply": "x"}], box, host=profile(tool_result_limit=100))
    text = result.turns[0].answers[0].text
    assert text.startswith("a" * 300) and text.endswith("z" * 100) and len(text) < 500
    assert "1600 characters left out" in text
    assert any(finding.startswith("truncated: tracker.list_issues (c9)") for finding in result.findings)


def test_the_system_prompt_has_the_instructions_unless_the_host_omits_them(tmp_path: Path) -> None:
    said = {"instructions": {"tracker": "Ask for projects first."}, "system": "You are a clerk."}
    shown = play(tmp_path, [{"reply": "x"}], **said).system
    hidden = play(tmp_path, [{"reply": "x"}], host=profile(instructions=False), **said).system
    assert shown.startswith("You are a clerk.") and "Ask for projects first." in shown
    assert "Ask for projects first." not in hidden
    assert '"answer"' in shown and '"refusal"' in shown and '"feedback"' in shown


def test_the_schema_of_the_answer_is_in_the_system_prompt(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["key"]}
    result = play(tmp_path, [{"reply": "x"}], answer_form="schema", answer_schema=schema)
    assert '"required": ["key"]' in result.system


def test_names_are_decorated_for_the_model_and_canonical_for_everyone_else(tmp_path: Path) -> None:
    box = ToolBox()
    steps = [{"call": "list_issues"}, {"reply": "x"}]
    result = play(tmp_path, steps, box, host=profile(tool_prefix="gl_", tool_suffix="_v2"))
    assert box.calls[0][1] == "list_issues" and box.calls[0][4] == "gl_list_issues_v2"
    assert ("tracker", "list_issues", "gl_list_issues_v2") in result.tool_names


def test_too_many_tools_are_said_before_anything_is_sent(tmp_path: Path) -> None:
    class Strict(type(scripted(tmp_path, "tasks: {t: [{reply: x}]}"))):  # type: ignore[misc]
        @property
        def name(self) -> str:
            return "litellm:openai"

    driver = Strict(tmp_path / "script.yaml")
    tools = tuple(ToolDefinition("s", f"tool_{i}") for i in range(129))
    result = run(driver, tools=tools)
    assert result.trouble is not None and result.trouble.kind == "schema_refused"
    assert "129 tools" in result.trouble.message and result.turns == ()


def test_usage_is_added_up_and_priced(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.25}
    steps = [{"call": "list_issues", "usage": usage}, {"reply": "x", "usage": usage}]
    result = play(tmp_path, steps)
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cost_usd) == (200, 20, 0.5)


def test_an_unknown_cost_is_unknown_and_the_limit_says_it_could_not_be_kept(tmp_path: Path) -> None:
    steps = [{"reply": "x", "usage": {"input_tokens": 100}}]
    result = play(tmp_path, steps, hard_cost=1.0)
    assert result.usage.cost_usd is None
    assert any("cost unknown" in finding for finding in result.findings)
    priced = play(tmp_path, steps, price_input=0.01, price_output=0.02)
    assert priced.usage.cost_usd == pytest.approx(1.0)


def test_cancelling_passes_through_and_the_script_is_forgotten(tmp_path: Path) -> None:
    driver = scripted(tmp_path, "tasks: {t: [{reply: x, delay: 30s}]}")

    async def cancelled() -> None:
        work = asyncio.ensure_future(LoopHost(profile()).run(assignment(), driver, ToolBox()))
        await asyncio.sleep(0.05)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert driver._plays == {}


def test_findings_about_definitions_stand_in_every_result(tmp_path: Path) -> None:
    broken = ToolDefinition("s", "bad.name", input_schema={"anyOf": [{"required": ["a"]}]})
    result = play(tmp_path, [{"reply": "x"}], tools=(LIST, GET, broken))
    assert any("anyOf at the root" in finding and "Anthropic" in finding for finding in result.findings)
