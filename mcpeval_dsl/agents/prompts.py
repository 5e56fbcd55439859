"""Inside a host, before the first turn: the system prompt an agent is given, and the envelope its answer is asked in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.agents.model import Assignment, HostProfile

_WORK = """\
You work on one task with the tools you are given. Nobody can answer questions while you work.
Before each tool call, say in a sentence or two why you make it and what you expect from it."""

_TALK = """\
You talk with a user and work for them with the tools you are given. The user reads what you write and answers.
Before each tool call, say in a sentence or two why you make it and what you expect from it.
When you have nothing more to do for now, or need to know or to be allowed something, write to the user and call no tool."""

_REFUSE = """\
If you decline to do what is asked, finish instead with
```json
{"refusal": "why"}
```"""

_ANSWERS = {
    "text": ("the answer to the task, as a text, short and complete", "a text"),
    "none": ("one sentence on what was done", "a text"),
    "json": ("the answer to the task, as a JSON value", "a JSON value"),
    "schema": ("the answer to the task, as a JSON value that fits the schema below", "a JSON value"),
}


def system_prompt(assignment: Assignment, profile: HostProfile) -> str:
    """The whole system prompt: the task's own words, the arm's and the servers', then how to work and to answer."""
    parts = [said.strip() for said in (assignment.system, assignment.about) if said.strip()]
    if profile.instructions:
        parts += [
            f"Instructions of the server {name}:\n{text.strip()}"
            for name, text in assignment.instructions.items()
            if text.strip()
        ]
    parts.append(_TALK if assignment.conversing else _WORK)
    if not assignment.conversing or assignment.answer_form in ("json", "schema"):
        parts.append(answer_request(assignment.answer_form, assignment.answer_schema))
    parts.append(_REFUSE)
    return "\n\n".join(parts)


def answer_request(form: str, schema: Mapping[str, Any] | None) -> str:
    """How the final answer is asked for; `answers.extract` reads it."""
    meaning, kind = _ANSWERS[form]
    lines = [
        "When you are done, finish with one JSON object in a fence and call no more tools:",
        "```json",
        f'{{"answer": <{kind}>, "reasoning": "<how you got there>", "feedback": "<what made the tools hard to use>"}}',
        "```",
        f"`answer` is {meaning}.",
    ]
    if schema is not None:
        lines.append("JSON Schema of `answer`:")
        lines.append(json.dumps(schema, ensure_ascii=False, sort_keys=True))
    return "\n".join(lines)
