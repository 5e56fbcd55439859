"""Rule: a grader that wants a form tells the agent which one."""

from __future__ import annotations

import re
from functools import cache

from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.graders import Exact, Grader, Json
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.answers import compared, read_by_agent
from mcpeval_dsl.semantics.rules.design.advice import about_task


@cache
def _stated() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:only|just|exactly|nothing else|no other|format\w*|answer (?:with|in|by|yes|true)|reply with|respond with|return"
        r"|give (?:me )?the|name the|say\b|as an?|one word|single|without|separated|json|csv|yaml|in the form|quote\w*)\b",
        re.IGNORECASE,
    )


def unstated_format(lowered: Lowered) -> None:
    """Warn about `exact` and `json` where no text of the task says what the answer has to look like.

    English prompts only: in other languages nobody here can tell.
    """
    for entry in lowered.parts.tasks:
        task = entry.task
        if task.answer.form != "text":
            continue
        strict = next((each.grader for each in compared(task) if _strict(each.grader)), None)
        if strict is None:
            continue
        texts = [text for text in read_by_agent(task) if text]
        if all(text.isascii() for text in texts) and not any(_stated().search(text) for text in texts):
            kind = "JSON" if isinstance(strict, Json) else "exactly this text"
            about_task(
                lowered,
                entry,
                "MCPE374",
                f"the answer has to be {kind}, and the prompt of `{task.name}` does not say so",
                "A sentence with the right value in it is a good answer, and fails.",
                "say so in the prompt (“Answer with the key only.”), write `answer json {…}`, or grade with `contains`",
                grader=strict,
            )


def _strict(grader: Grader) -> bool:
    if isinstance(grader, Exact):
        text = grader.expected.value if isinstance(grader.expected, Literal) else ""
        return not (isinstance(text, str) and text.count(" ") > 5)  # a whole sentence is meant as one
    return isinstance(grader, Json)
