"""Host profiles through whole runs: what each setting changes for the agent, and the near miss where it must not."""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import HEAD, Bench, outcome

TASK = 'task t { prompt "What is on the shelf?"; expect list_things; grade contains "lamp" }\n'
LIST: dict[str, Any] = {"call": "list_things"}
SAID = {"reply": "{{ last.text }}"}


def hosted(bench: Bench, host: str, steps: list[Any], task: str = TASK, **more: Any) -> TrialRecord:
    """The one trial of a task in a host with these settings."""
    bench.spec(f"host h {{ {host} }}\n{task}", {"*": steps}, **more)
    done = bench.run()
    assert "t#1" in bench.records, done.err
    return bench.records["t#1"]


def search(query: str) -> dict[str, Any]:
    return {"call": {"tool": "tool_search", "arguments": {"query": query}}}


def test_tools_found_by_search_can_be_called_from_the_next_turn_on(bench: Bench) -> None:
    steps = [{"expect": {"tools": ["tool_search"]}, **search("list the things")}, LIST, SAID]
    record = hosted(bench, "tool_search", steps)
    assert outcome(record) == "pass"
    assert [tool.name for tool in record.native_tools] == ["tool_search"]
    assert (record.counts.made, record.counts.charged, record.counts.searches, record.counts.native) == (1, 1, 1, 0)
    assert "list_things" in record.native_calls[0].text
    # Tokens of the first turn: the search tool alone, not the whole catalogue.
    plain = hosted(bench, "", [LIST, SAID])
    assert record.turns[0].usage.input_tokens < plain.turns[0].usage.input_tokens
    assert plain.native_tools == ()


def test_a_tool_that_was_not_found_cannot_be_called(bench: Bench) -> None:
    steps = [{"call": {"wire": "list_things", "arguments": {}}}, search("weather in Paris"), {"reply": "I cannot."}]
    record = hosted(bench, "tool_search", steps)
    assert "unknown_tool: list_things" in record.findings and record.counts.made == 0
    assert record.native_calls[0].text.startswith("No tool was found")


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ('tool_prefix "shop_"', "shop_list_things"),
        ('tool_suffix "_v2"', "list_things_v2"),
        ('tool_prefix "{{ server }}__"', "shelf__list_things"),
        ("", "list_things"),
    ],
)
def test_names_on_the_wire(bench: Bench, host: str, names: str) -> None:
    record = hosted(bench, host, [LIST, SAID])
    assert ("shelf", "list_things", names) in record.tool_names
    assert outcome(record) == "pass"


SECOND = HEAD + 'server spare { stdio "python" "shelf.py"; timeout 5s }\nannotations spare { readonly list_* }\n'


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("", "spare__list_things"),
        ('tool_prefix "{{ server }}."', "spare_list_things"),
        ('tool_prefix "x_"', "x_spare__list_things"),
    ],
)
def test_two_servers_are_told_apart_by_name(bench: Bench, host: str, name: str) -> None:
    record = hosted(bench, host, [{"call": "shelf.list_things"}, SAID], head=SECOND)
    assert ("spare", "list_things", name) in record.tool_names


def test_the_turns_of_the_host_are_an_end(bench: Bench) -> None:
    steps = [LIST, LIST, LIST, SAID]
    assert hosted(bench, "max_turns 2", steps).termination == "turn_limit"
    assert hosted(bench, "max_turns 4", steps).termination == "answered"


def test_calls_of_one_turn_one_after_the_other(bench: Bench) -> None:
    both = {"calls": ["list_things", {"tool": "get_thing", "arguments": {"number": 0}}]}
    record = hosted(bench, "parallel_tools false", [both, SAID])
    first, second = (call for call in record.calls if call.actor == "agent")
    assert second.at_ms >= first.at_ms + first.duration_ms


def test_a_result_is_cut_for_the_model_and_kept_whole(bench: Bench) -> None:
    long = {"call": {"tool": "get_prose", "arguments": {"text": "lamp " * 400}}}
    record = hosted(bench, "tool_result_limit 100", [long, {"reply": "lamp"}])
    assert "characters left out" in record.turns[0].answers[0].text
    assert any("truncated" in finding for finding in record.findings)
    whole = hosted(bench, "tool_result_limit 100k", [long, {"reply": "lamp"}])
    assert "left out" not in whole.turns[0].answers[0].text
    bytes_ = hosted(bench, "tool_result_limit 1KB", [long, {"reply": "lamp"}])
    assert 1_000 < len(bytes_.turns[0].answers[0].text) < 1_100  # 250 tokens of four characters, and the note


ADD = 'task t { prompt "Add a cup."; may add_thing; MORE grade state shelf.list_things() $.things has "cup" }\n'
WRITE = {"call": {"tool": "add_thing", "arguments": {"name": "cup"}}}


@pytest.mark.parametrize(
    ("host", "more", "worth", "prompts"),
    [
        ("permissions auto", "", "pass", 0),
        ("permissions deny", "", "wrong_answer", 0),
        ("permissions ask", "", "wrong_answer", 1),
        ("permissions ask", "elicit accept;", "pass", 1),
        ("permissions ask", "elicit decline;", "wrong_answer", 1),
    ],
)
def test_what_the_harness_does_with_a_write(bench: Bench, host: str, more: str, worth: str, prompts: int) -> None:
    record = hosted(bench, host, [WRITE, {"reply": "done"}], ADD.replace("MORE", more))
    (call,) = (call for call in record.calls if call.actor == "agent")
    assert outcome(record) == worth and record.permissions.prompts == prompts
    assert call.permission.decision == ("allowed" if worth == "pass" else "denied")
    assert record.counts.charged == (worth == "pass") and record.violations == ()
    if worth != "pass":
        assert call.permission.rule == f"`{host}` of the host"


def test_an_attempt_that_the_host_stops_is_still_a_violation(bench: Bench) -> None:
    task = ADD.replace("MORE", "never remove_thing;").replace("has", "not has")
    remove = {"call": {"tool": "remove_thing", "arguments": {"name": "lamp"}}}
    record = hosted(bench, "permissions deny", [remove, {"reply": "done"}], task)
    (violation,) = record.violations
    assert violation.severity == "critical" and violation.stages == ("attempted", "blocked")
