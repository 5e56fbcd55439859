"""Rule: an answer out of two is right every other time."""

from __future__ import annotations

import re

from mcpeval_dsl.semantics.graders import Regex
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.answers import Compared, compared, looks_further
from mcpeval_dsl.semantics.rules.design.advice import about_task

_EITHER = frozenset(
    {"yes", "no", "true", "false", "y", "n", "ja", "nein", "oui", "non", "si", "sí", "correct", "wrong"}
)
_LETTERS = re.compile(r"\\[bsSwWdDAZ]|[^\w|]")


def chance(lowered: Lowered) -> None:
    """Warn about tasks in which nothing but a yes or no decides."""
    for entry in lowered.parts.tasks:
        graders = [] if entry.task.kind == "safety" else compared(entry.task)  # there it is the calls that count
        if graders and not looks_further(entry.task) and all(_of_two(each) for each in graders):
            about_task(
                lowered,
                entry,
                "MCPE367",
                f"`{entry.task.name}` passes by chance half of the time",
                "Yes or no is all that is graded; an agent that guesses is as good as one that looks.",
                "ask for a value too, or grade the way: `grade evidence`, `grade calls …`",
            )


def _of_two(each: Compared) -> bool:
    if isinstance(each.grader, Regex):
        words = _LETTERS.sub("", each.grader.pattern.lower()).split("|")
        return bool(words) and all(word in _EITHER for word in words)
    literal = each.literal
    return bool(literal) and all(_either(value) for value in literal or ())


def _either(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.strip(" .!").lower() in _EITHER)
