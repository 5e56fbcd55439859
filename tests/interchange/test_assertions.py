"""Each assertion of other tools as the statements it becomes; nothing is also an answer, and then the report says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.interchange.compiled import compile_suite
from mcpeval_dsl.interchange.importing import import_file
from mcpeval_dsl.interchange.model import Suite


def imported(folder: Path, data: Any) -> Suite:
    path = folder / "evals.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    made = import_file(path, "evals.json")
    assert made.suite is not None, made.diagnostics
    compiled = compile_suite(made.suite, "evals.json")
    assert compiled.errors == [] and not any("would not compile" in note.text for note in made.suite.notes)
    return made.suite


def statements(suite: Suite) -> list[str]:
    """Of the first task, without those that stand in every case of the format."""
    return [each.text for each in suite.tasks[0].statements if not each.text.startswith("may ")]


JUDGE = 'grade judge { claim "The answer does what was asked." }'
ANSWER = 'grade judge { claim "The answer agrees with this one: lamp" }'

LASTMILE: list[tuple[Any, list[str]]] = [
    ({"ResponseContains": {"text": "lamp"}}, ['grade contains "lamp" { ignore case }']),
    ({"ResponseContains": {"text": "lamp", "case_sensitive": True}}, ['grade contains "lamp"']),
    ({"ResponseContains": {"text": "l.mp", "regex": True}}, ["grade regex /l.mp/i", ANSWER]),
    ({"NotContains": {"text": "vase"}}, ['grade not contains "vase" { ignore case }', ANSWER]),
    ({"EqualsExpected": {}}, ['grade exact "lamp"']),
    ({"EqualsExpected": {"exact_match": False, "case_sensitive": False}}, ['grade contains "lamp" { ignore case }']),
    ({"ToolWasCalled": {"tool_name": "get", "min_times": 2}}, ["grade calls at_least(2, get)", ANSWER]),
    ({"ExactToolCount": {"tool_name": "get", "expected_count": 0}}, ["grade calls none(get)", ANSWER]),
    ({"ExactToolCount": {"tool_name": "get", "expected_count": 3}}, ["grade calls exactly(3, get)", ANSWER]),
    ({"ToolCalledWith": {"tool_name": "get", "expected_args": {"a": [1]}}}, ["grade calls get(a: [1])", ANSWER]),
    ({"ToolSequence": {"expected_sequence": ["a_1", "b_2"]}}, ["grade calls ordered(a_1, b_2)", ANSWER]),
    ({"ToolSuccessRate": {"min_rate": 1.0}}, ["grade calls none(errors(*))", ANSWER]),
    ({"ToolFailed": {"tool_name": "get"}}, ["grade calls errors(get)", ANSWER]),
    ({"MaxIterations": {"max_iterations": 4}}, ["budget turns <= 4", ANSWER]),
    ({"ResponseTimeCheck": {"max_ms": 1500}}, ["budget time <= 1500ms", ANSWER]),
    ({"PathEfficiency": {"optimal_steps": 2, "allow_extra_steps": 1}}, ["budget calls <= 3", ANSWER]),
    ({"LLMJudge": {"rubric": "It is kind."}}, ['grade judge { claim "It is kind." }']),
    (
        {"MultiCriteriaJudge": {"criteria": [{"name": "a", "description": "It is so."}]}},
        ['grade judge { claim "It is so." }', ANSWER],
    ),
    ({"ToolOutputMatches": {"tool_name": "get", "expected_output": "x"}}, ["expect get", ANSWER]),
    ({"Unheard": {}}, [ANSWER]),
    ({"type": "ResponseContains", "text": "lamp"}, ['grade contains "lamp" { ignore case }']),
]


@pytest.mark.parametrize(("evaluator", "wanted"), LASTMILE, ids=lambda value: str(value)[:40])
def test_lastmile(evaluator: Any, wanted: list[str], tmp_path: Path) -> None:
    case = {"name": "a", "inputs": "x", "expected_output": "lamp", "evaluators": [evaluator]}
    assert statements(imported(tmp_path, {"cases": [case]})) == wanted


MCPJAM: list[tuple[dict[str, Any], list[str]]] = [
    ({"type": "toolCalledWith", "toolName": "get", "args": {"args": {"a": 1}}}, ["grade calls get(a: 1)"]),
    (
        {"type": "toolCalledWith", "toolName": "get", "args": {"args": {"a": 1}, "argumentMatching": "ignore"}},
        ["grade calls get"],
    ),
    (
        {"type": "toolCalledWith", "toolName": "get", "args": {"args": {}}, "minCount": 2},
        ["grade calls at_least(2, get)"],
    ),
    ({"type": "toolCalledAtLeastOnce", "toolName": "get"}, ["grade calls get"]),
    ({"type": "toolNeverCalled", "toolName": "get"}, ["grade calls none(get)"]),
    ({"type": "firstToolWas", "toolName": "get"}, ["grade calls get"]),
    ({"type": "responseContains", "needle": "x", "caseSensitive": True}, ['grade contains "x"']),
    ({"type": "responseMatches", "pattern": "a/b"}, [r"grade regex /a\/b/"]),
    ({"type": "responseMatches", "pattern": "(?=a)"}, [JUDGE]),
    ({"type": "noToolErrors"}, ["grade calls none(errors(*))"]),
    ({"type": "finalAssistantMessageNonEmpty"}, [r"grade regex /\S/"]),
    ({"type": "tokenBudgetUnder", "tokens": 900}, ["budget tokens <= 900", JUDGE]),
    ({"type": "turnCountUnder", "turns": 3}, ["budget turns <= 2", JUDGE]),
    ({"type": "widgetRendered"}, [JUDGE]),
]


@pytest.mark.parametrize(("assertion", "wanted"), MCPJAM, ids=lambda value: str(value)[:50])
def test_mcpjam(assertion: dict[str, Any], wanted: list[str], tmp_path: Path) -> None:
    steps = [{"id": "1", "kind": "prompt", "prompt": "x"}]
    suite = imported(tmp_path, {"cases": [{"id": "a", "title": "a", "steps": steps, "assertions": [assertion]}]})
    assert statements(suite) == wanted


PROMPTFOO: list[tuple[dict[str, Any], list[str]]] = [
    ({"type": "equals", "value": "Paris"}, ['grade exact "Paris"']),
    ({"type": "equals", "value": 42}, ["grade number 42"]),
    ({"type": "contains", "value": "{{ place }}"}, ['grade contains "Rome"']),
    ({"type": "not-icontains", "value": "x"}, ['grade not contains "x" { ignore case }']),
    ({"type": "contains-all", "value": ["a", "b"]}, ['grade contains "a", "b"']),
    (
        {"type": "icontains-any", "value": "a, b"},
        ['grade any { contains "a" { ignore case }; contains "b" { ignore case } }'],
    ),
    ({"type": "regex", "value": "^\\d+$"}, [r"grade regex /^\d+$/"]),
    ({"type": "starts-with", "value": "a.b"}, [r"grade regex /^a\.b/"]),
    ({"type": "llm-rubric", "value": "It is kind."}, ['grade judge { claim "It is kind." }']),
    ({"type": "not-llm-rubric", "value": "It is rude."}, ['grade judge { claim "It is not so: It is rude." }']),
    ({"type": "factuality", "value": "f"}, ['grade judge { claim "The answer agrees with these facts: f" }']),
    ({"type": "is-json"}, ["grade json $ != null"]),
    ({"type": "cost", "threshold": 0.01}, ["budget cost <= $0.0100", JUDGE]),
    ({"type": "latency", "threshold": 5000}, ["budget time <= 5s", JUDGE]),
    ({"type": "trajectory:tool-used", "value": {"name": "get", "min": 2}}, ["grade calls at_least(2, get)"]),
    ({"type": "not-trajectory:tool-used", "value": ["a_1", "b_2"]}, ["grade calls none(a_1, b_2)"]),
    ({"type": "trajectory:tool-sequence", "value": {"steps": ["a_1", "b_2"]}}, ["grade calls ordered(a_1, b_2)"]),
    ({"type": "trajectory:tool-args-match", "value": {"name": "get", "args": {"a": 1}}}, ["grade calls get(a: 1)"]),
    ({"type": "assert-set", "assert": [{"type": "contains", "value": "a"}]}, ['grade contains "a"']),
    ({"type": "python", "value": "len(output) > 1"}, [JUDGE]),
    ({"type": "unheard", "value": 1}, [JUDGE]),
]


@pytest.mark.parametrize(("assertion", "wanted"), PROMPTFOO, ids=lambda value: str(value)[:50])
def test_promptfoo(assertion: dict[str, Any], wanted: list[str], tmp_path: Path) -> None:
    data = {"prompts": ["x"], "tests": [{"vars": {"place": "Rome"}, "assert": [assertion]}]}
    suite = imported(tmp_path, data)
    assert statements(suite) == wanted
    if wanted == [JUDGE]:
        assert any(note.what == "lost" and assertion["type"] in note.text for note in suite.notes)


PATTERNS = {
    "pods_.*": "pods_*",
    ".*": "*",
    "": "*",
    "^get_pod$": "get_pod",
    "(a_.*|b_.*)": "any(a_*, b_*)",
    "list_.*_all": "list_*_all",
    "[a-z]+": None,
    "a{2}": None,
    "a?b": None,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_of_names(pattern: str) -> None:
    from mcpeval_dsl.interchange.calls import from_regex
    from mcpeval_dsl.interchange.model import Server

    suite = Suite("x", servers=[Server("one")])
    assert from_regex(suite, pattern) == PATTERNS[pattern]


ANSWERS = {
    "42": "number 42",
    "1,234.50": "number 1234.50",
    "-3": "number -3",
    "007": 'exact "007" { ignore case, whitespace }',
    "1,23": 'exact "1,23" { ignore case, whitespace }',
    " Paris ": 'exact "Paris" { ignore case, whitespace }',
    "2026-03-01": 'exact "2026-03-01" { ignore case, whitespace }',
    "v1.2": 'exact "v1.2" { ignore case, whitespace }',
    "$5": 'exact "$5" { ignore case, whitespace }',
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers(answer: str) -> None:
    from mcpeval_dsl.interchange.graders import equals

    assert equals(answer) == ANSWERS[answer]


MODELS = {
    "claude-sonnet-4-5": 'anthropic "claude-sonnet-4-5"',
    "anthropic:claude-3-5-haiku-latest": 'anthropic "claude-3-5-haiku-latest"',
    "anthropic:messages:claude-sonnet-4-5": 'anthropic "claude-sonnet-4-5"',
    "anthropic/claude-sonnet-4-6": 'anthropic "claude-sonnet-4-6"',
    "openai:gpt-5-nano": 'litellm "openai/gpt-5-nano"',
    "openai:chat:gpt-4o": 'litellm "openai/gpt-4o"',
    "gpt-4o": 'litellm "openai/gpt-4o"',
    "google:gemini-2.5-flash": 'litellm "gemini/gemini-2.5-flash"',
    "${MODEL}": "",
    "": "",
}


@pytest.mark.parametrize("name", MODELS)
def test_names_of_models(name: str) -> None:
    from mcpeval_dsl.interchange.models import driver

    assert driver(name) == MODELS[name]


def test_a_tool_of_a_host_is_a_tool_of_its_server(tmp_path: Path) -> None:
    servers = {"one": {"command": "a"}, "two": {"command": "b"}}
    data = {
        "mcpServers": servers,
        "tests": [{"title": "t", "prompt": "x", "expectedTools": ["mcp__two__get_it", "other/x"]}],
    }
    assert statements(imported(tmp_path, data)) == ["grade calls two.get_it", 'grade calls one."other/x"']


def test_every_word_of_a_statement_has_its_rank(tmp_path: Path) -> None:
    from mcpeval_dsl.interchange.model import RANKS

    source = "\n".join(
        path.read_text() for path in (Path(__file__).parents[2] / "mcpeval_dsl" / "interchange").rglob("*.py")
    )
    assert set(re.findall(r'\.add\("(\w+)",', source)) <= set(RANKS)
