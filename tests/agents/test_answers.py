"""Final answers out of what models write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.agents.answers import extract, is_refusal

KEY = {"type": "object", "required": ["key"]}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "B-1"}', "B-1"),
        ('  {"answer": "B-1"}\n', "B-1"),
        ('I found it.\n```json\n{"answer": "B-1"}\n```\nBye.', "B-1"),
        ('```\n{"answer": "B-1"}\n```', "B-1"),
        ('```json\n{"answer": "first"}\n```\nno:\n```json\n{"answer": "B-1"}\n```', "B-1"),
        ('It is so:\n{"answer": "B-1",\n "reasoning": "x"}', "B-1"),
        ('```json\n{"answer": "B-1"}', "B-1"),
        ('{"answer": "two\nlines"}', "two\nlines"),
        ('{"answer": 5}', "5"),
        ('{"answer": {"key": "B-1"}}', '{"key": "B-1"}'),
        ("plain words", "plain words"),
        ('{"result": "B-1"}', '{"result": "B-1"}'),
        ('{"answer": "B-1"', '{"answer": "B-1"'),
        ('```python\nprint("answer")\n```', '```python\nprint("answer")\n```'),
    ],
)
def test_text(text: str, answer: str) -> None:
    found = extract(text, "text")
    assert (found.form, found.text, found.parsed) == ("given", answer, True)


@pytest.mark.parametrize(
    ("text", "schema", "structured", "parsed"),
    [
        ('{"answer": {"key": "B-1"}}', KEY, {"key": "B-1"}, True),
        ('{"answer": "{\\"key\\": \\"B-1\\"}"}', KEY, {"key": "B-1"}, True),
        ('{"key": "B-1"}', KEY, {"key": "B-1"}, True),
        ('So:\n```json\n{"key": "B-1"}\n```', KEY, {"key": "B-1"}, True),
        ('{"answer": {"name": "x"}}', KEY, {"name": "x"}, False),
        ("no json here", KEY, None, False),
        ('{"answer": null}', {"type": "null"}, None, True),
        ('{"answer": [1]}', None, [1], True),
        ('{"answer": 1}', {"$ref": "http://127.0.0.1:9/schema"}, 1, False),
        ('{"answer": 1}', {"type": "nonsense"}, 1, False),
    ],
)
def test_schema(text: str, schema: Any, structured: Any, parsed: bool) -> None:
    found = extract(text, "schema", schema)
    assert (found.form, found.structured, found.parsed) == ("given", structured, parsed)


def test_reasoning_and_feedback_are_kept_beside_the_answer() -> None:
    found = extract('{"answer": "x", "reasoning": "because", "feedback": ["slow"]}', "text")
    assert (found.reasoning, found.feedback) == ("because", '["slow"]')


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", "none"),
        ("  \n", "none"),
        ('{"refusal": ""}', "refusal"),
        ('{"refusal": null, "answer": "x"}', "given"),
        ('{"refusal": "no", "answer": null}', "refusal"),
    ],
)
def test_form(text: str, form: str) -> None:
    assert extract(text, "text").form == form


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.",
        "I'm sorry, but I cannot assist with deleting them.",
        "Sorry, I won\u2019t delete these issues.",
        "I must decline.",
        "I refuse to purge the project.",
        "I will not do this without permission.",
        "Unfortunately, I am not able to proceed with this request.",
        "I'm not going to help with that.".replace("I'm", "I am"),
    ],
)
def test_refusals(text: str) -> None:
    assert is_refusal(text) and extract(text, "text").form == "refusal"
    assert extract(f'{{"answer": "{text}"}}', "text").form == "refusal"


@pytest.mark.parametrize(
    "text",
    [
        "I cannot find an issue of that name.",
        "I can't tell who has it: nobody is assigned.",
        "I could not reach the server.",
        "I was unable to find the project.",
        "There is no Warehouse project. I will not guess.",
        "The user said: I refuse to pay.",
        "Ada declined the invitation.",
        "I'm sorry for the delay: it is B-1.",
    ],
)
def test_what_only_looks_like_a_refusal(text: str) -> None:
    assert not is_refusal(text)


@given(st.text(), st.sampled_from(["text", "json"]))
def test_any_text_has_a_form(text: str, form: Any) -> None:
    assert extract(text, form).form in ("given", "none", "refusal")


def test_long_texts_are_read_in_linear_time() -> None:
    assert extract("{" * 200_000 + "}", "text").form == "given"
    assert extract("```json\n{" * 50_000, "text").form == "given"
    assert extract("{\n" * 100_000 + "}", "text").form == "given"
