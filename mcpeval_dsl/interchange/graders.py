"""Interchange: what other tools call assertions, scorers or evaluators -> graders of the language, in the same meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcpeval_dsl.interchange import words
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.placeholders import is_placeholder

_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.\d{1,12})?")
_MANY_WORDS = 12
DONE = "The answer does what was asked."
LOOSE = " { ignore case, whitespace }"


def as_number(text: str) -> str | None:
    """The number that a text is, as the language writes it."""
    text = text.strip()
    return text.replace(",", "").lstrip("+") if _NUMBER.fullmatch(text) else None


def is_prose(text: str) -> bool:
    return len(text.split()) >= _MANY_WORDS


def equals(expected: str, *, strict: bool = False) -> str:
    """The answer is this value: as a number where it is one, else as text; not `strict`: case and blanks do not count."""
    number = as_number(expected)
    if number is not None:
        return f"number {number}"
    return f"exact {words.quoted(expected.strip())}" + ("" if strict else LOOSE)


def contains(values: Sequence[str], *, case: bool = False) -> str:
    """The answer mentions all of the values; `case`: upper and lower case differ."""
    written = [as_number(value) or words.quoted(value) for value in values]
    loose = not case and any(as_number(value) is None for value in values)
    return f"contains {', '.join(written)}" + (" { ignore case }" if loose else "")


def contains_any(values: Sequence[str], *, case: bool = False) -> str:
    if len(values) == 1:
        return contains(values, case=case)
    return "any { " + "; ".join(contains([value], case=case) for value in values) + " }"


def judge(claims: Iterable[str]) -> str:
    """A model judges whether the claims hold."""
    said = [" ".join(words.clean(claim)[0].split()) for claim in claims]
    written = [f"claim {words.quoted(claim)}" for claim in said if claim] or [f"claim {words.quoted(DONE)}"]
    return "judge { " + "; ".join(written) + " }"


def duration(milliseconds: float) -> str:
    whole = round(milliseconds)
    return f"{whole // 1000}s" if whole % 1000 == 0 else f"{whole}ms"


def answer(suite: Suite, task: Task, expected: str, line: int, grader: str | None = None) -> None:
    """The grader of an expected answer; of a placeholder, a name that a person gives a value."""
    if is_placeholder(expected):
        untestable(suite, task, expected, line)
        return
    task.add("grade", grader or equals(expected))
    if grader is None and as_number(expected) is None and is_prose(expected):
        said = "an answer of many words is compared as one; a judge, or `contains` with what matters, would be fairer"
        suite.note("look", said, task.path, line, task.name)


def untestable(suite: Suite, task: Task, expected: str, line: int) -> None:
    """The task stays, and cannot be tested until its answer is filled in: a run says so and counts it nowhere."""
    task.placeholder = words.clean(" ".join(expected.split()))[0] or "(empty)"
    task.answer_name = suite.names.new(f"{task.name[: words.LONGEST_NAME - 7]}_answer", "answer")
    name, quoted = task.answer_name, words.quoted(task.placeholder)
    task.add("needs", f"{name} != {quoted}")
    task.add("grade", f"exact {name}{LOOSE}")
    said = f"the answer `{task.placeholder}` is none: untestable until `let {name}` has a value"
    suite.note("look", said, task.path, line, task.name)


def regex(suite: Suite, task: Task, pattern: str, line: int, *, flags: str = "", negated: bool = False) -> str | None:
    """`regex /…/`; None, after saying why, where RE2 has no such expression."""
    written = words.regex(pattern, flags)
    if written is None:
        suite.note("lost", f"the pattern `{pattern[:80]}` cannot be used here (RE2)", task.path, line, task.name)
        return None
    return ("not " if negated else "") + f"regex {written}"


def called(suite: Suite, name: str, arguments: Mapping[str, Any] | None = None, server: str = "") -> str:
    """A call of a tool with arguments that are equal, as a pattern."""
    return words.call(suite.tool(name, server), arguments or {})


def in_order(patterns: Sequence[str]) -> str:
    """The calls one after the other, others between them."""
    return patterns[0] if len(patterns) == 1 else f"ordered({', '.join(patterns)})"


def counted(least: int | None, most: int | None, pattern: str) -> list[str]:
    """Patterns for a number of calls."""
    if least is not None and least == most:
        return [f"exactly({least}, {pattern})" if least else f"none({pattern})"]
    found = [f"at_least({least}, {pattern})"] if least else []
    if most is not None:
        found.append(f"at_most({most}, {pattern})" if most else f"none({pattern})")
    return found


def judged_by(suite: Suite, task: Task, claims: Sequence[str]) -> None:
    """A judge grader; the suite then needs a judge."""
    suite.judged = True
    task.add("grade", judge(claims))


def judge_alone(suite: Suite, task: Task, line: int, why: str) -> None:
    """Nothing else decides: a judge is asked whether the task was done."""
    judged_by(suite, task, [DONE])
    said = f"{why}: a judge is asked whether the answer does what was asked"
    suite.note("look", said, task.path, line, task.name)


def permits(suite: Suite, task: Task, tools: Iterable[str], server: str = "") -> None:
    """Tools that the source wants called are permitted to be called."""
    patterns = [suite.tool(name, server) for name in tools if name.strip()]
    task.permitted = list(dict.fromkeys([*task.permitted, *patterns]))
    task.statements = [each for each in task.statements if not each.text.startswith("may ")]
    if task.permitted:
        task.add("may", ", ".join(task.permitted))
