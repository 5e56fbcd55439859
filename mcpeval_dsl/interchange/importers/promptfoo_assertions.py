"""Interchange: promptfoo's assertions, by type, as graders; for calls without a model, as what is required of the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from mcpeval_dsl.interchange import calls, graders, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node

Fill = Callable[[str], str]
_JUDGED = {
    "llm-rubric": "{}",
    "model-graded-closedqa": "{}",
    "model-graded-factuality": "The answer agrees with these facts: {}",
    "factuality": "The answer agrees with these facts: {}",
    "similar": "The answer means the same as: {}",
    "answer-relevance": "The answer speaks to what was asked.",
    "g-eval": "{}",
    "agent-rubric": "{}",
    "trajectory:goal-success": "The goal was reached: {}",
    "search-rubric": "{}",
}


def add(suite: Suite, document: Document, task: Task, each: Node, fill: Fill) -> None:
    """One assertion; what has no counterpart is lost, and said."""
    kind = each.text("type")
    negated = kind.startswith("not-")
    plain = kind.removeprefix("not-")
    if plain == "assert-set":
        _set(suite, document, task, each, fill)
        return
    if plain in ("cost", "latency") and each.number("threshold"):
        limit = each.number("threshold") or 0
        task.add("budget", f"cost <= ${limit:.4f}" if plain == "cost" else f"time <= {graders.duration(limit)}")
        return
    texts = [fill(text) for text in each.texts("value")]
    written = _grader(suite, task, each, plain, texts, negated)
    if written:
        task.add("grade", written)
        if each.get("weight", "threshold", "transform") is not None:
            said = f"`{kind}`: weight, threshold and transform; an assertion holds or does not"
            suite.note("changed", said, document.shown, each.line, task.name)
        return
    why = "a program, which is not run" if plain in ("javascript", "python", "ruby", "webhook") else "no counterpart"
    suite.note("lost", f"the assertion `{kind[:40]}`: {why}", document.shown, each.line, task.name)


def _set(suite: Suite, document: Document, task: Task, each: Node, fill: Fill) -> None:
    for inner in each.list_of("assert"):
        add(suite, document, task, inner, fill)
    if each.get("threshold") is not None:
        suite.note("changed", "all of an `assert-set` must hold, not a share", document.shown, each.line, task.name)


def _grader(suite: Suite, task: Task, each: Node, kind: str, texts: Sequence[str], negated: bool) -> str | None:
    no = "not " if negated else ""
    one = texts[0] if texts else ""
    if kind in _JUDGED:
        suite.judged = True
        claim = _JUDGED[kind].format(one) if one or "{}" not in _JUDGED[kind] else ""
        claim = f"It is not so: {claim}" if negated else claim
        return graders.judge([claim]) if claim else None
    if kind.startswith("trajectory:"):
        return _trajectory(suite, task, each, kind, negated)
    if not texts and kind not in ("is-json", "contains-json", "is-refusal"):
        return None
    if kind == "equals":
        return no + graders.equals(one, strict=True)
    if kind in ("contains", "icontains"):
        return no + graders.contains([one], case=kind == "contains")
    if kind in ("contains-any", "icontains-any"):
        return no + graders.contains_any(_parts(texts), case=kind == "contains-any")
    if kind in ("contains-all", "icontains-all") and not negated:
        return graders.contains(_parts(texts), case=kind == "contains-all")
    if kind == "starts-with":
        return graders.regex(suite, task, "^" + re.escape(one).replace("\\ ", " "), each.line, negated=negated)
    if kind == "regex":
        return graders.regex(suite, task, one, each.line, negated=negated)
    if kind in ("is-json", "contains-json") and not negated:
        return _json(task, each)
    return None


def _parts(texts: Sequence[str]) -> list[str]:
    """A list, or one text of parts with commas between."""
    return [part.strip() for part in texts[0].split(",") if part.strip()] if len(texts) == 1 else list(texts)


def _json(task: Task, each: Node) -> str:
    """The answer is asked for in the form of the schema, and what the schema requires has to be there."""
    schema = each.get("value")
    if schema is None or schema.kind != "map" or task.has("answer "):
        return "json $ != null"
    task.add("answer", f"schema {words.value(schema.plain())}")
    for name in schema.texts("required"):
        if words.is_name(name):
            task.add("grade", f"json $.{name} != null")
    return "json $ != null"


def _trajectory(suite: Suite, task: Task, each: Node, kind: str, negated: bool) -> str | None:
    value = each.get("value")
    if value is None:
        return None
    names = (
        value.texts("name", "pattern", "tool", "names", "tools", "sequence", "steps")
        if value.kind == "map"
        else each.texts("value")
    )
    patterns = [suite.tool(name) for name in names if re.fullmatch(r"[\w.*:/-]+", name)]
    if not patterns:
        return None
    if negated:
        return f"calls none({', '.join(patterns)})" if kind == "trajectory:tool-used" else None
    graders.permits(suite, task, names)
    if kind == "trajectory:tool-used":
        least, most = value.whole("min"), value.whole("max")
        counted = graders.counted(least, most, patterns[0]) if len(patterns) == 1 else []
        return f"calls {', '.join(counted or patterns)}"
    if kind == "trajectory:tool-sequence":
        return f"calls {graders.in_order(patterns)}"
    if kind == "trajectory:tool-args-match":
        return f"calls {words.call(patterns[0], value.plain_map('args', 'arguments'))}"
    return None


def requires(suite: Suite, document: Document, wanted: Sequence[Node], variables: Mapping[str, str]) -> list[str]:
    """What a check requires of the result of its call."""
    found = ["class == none"]
    for each in wanted:
        kind, texts = each.text("type"), each.texts("value")
        text = texts[0] if texts else ""
        for name, value in variables.items():
            text = text.replace("{{" + name + "}}", value).replace("{{ " + name + " }}", value)
        written: str | None = None
        if kind in ("contains", "icontains") and text:
            written = (
                calls.says(text) if kind == "contains" else calls.matches(re.escape(text).replace("\\ ", " "), "i")
            )
        elif kind == "not-contains" and text:
            written = f"text($) not has {words.quoted(text)}"
        elif kind == "regex" and text:
            written = calls.matches(text)
        elif kind == "equals" and text:
            written = f"text($) == {words.quoted(text)}"
        elif kind == "contains-all":
            found += [calls.says(part) for part in _parts(texts)]
            continue
        elif kind == "is-json":
            written = "$ != null"
        if written:
            found.append(written)
        else:
            suite.note("lost", f"the assertion `{kind[:40]}` has no counterpart in a check", document.shown, each.line)
    return found
