"""Rule: a placeholder is no answer."""

from __future__ import annotations

import re
from functools import cache

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.answers import compared, said
from mcpeval_dsl.semantics.rules.design.advice import about_task

_ANYWHERE = re.compile(r"__[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*__|\b(?:REPLACE|CHANGE|FILL|INSERT)_(?:WITH|ME|IN|HERE)\w*")


@cache
def _alone() -> re.Pattern[str]:
    return re.compile(
        r"<[^<>/]{1,60}>|\[(?i:your|the|insert|replace|answer|fill)\b[^\]]*\]|\{[A-Z_ ]+\}|\.\.\.|…|\?{2,}"
        r"|(?:T[O]DO|TBD|FIX[M]E|X{3,})(?:[ :].{0,80})?|(?i:to be (?:done|determined|verified|filled in))",
        re.DOTALL,
    )


def placeholders(lowered: Lowered) -> None:
    """Warn about expected answers and prompts that somebody still has to write."""
    for entry in lowered.parts.tasks:
        for each in compared(entry.task):
            for value in each.literal or ():
                found = _placeholder(value) if isinstance(value, str) else None
                if found is not None:
                    about_task(
                        lowered,
                        entry,
                        "MCPE369",
                        f"`{found}` stands where an answer should",
                        "No agent gives it, so every trial fails and says nothing about the server.",
                        "harvest the value from the server, or write the answer down",
                        grader=each.grader,
                    )
        spoken = _ANYWHERE.search(said(entry.task))
        if spoken is not None:
            title = f"the prompt of `{entry.task.name}` has the placeholder `{spoken[0]}`"
            body = "The agent is asked about the placeholder."
            about_task(
                lowered, entry, "MCPE369", title, body, "write what is meant, or name a harvested value: `{{ … }}`"
            )


def _placeholder(text: str) -> str | None:
    inside = _ANYWHERE.search(text)
    if inside is not None:
        return inside[0]
    return text.strip()[:40] if _alone().fullmatch(text.strip()) else None
