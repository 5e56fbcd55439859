"""Interchange: datasets of gleanwork's mcp-server-tester (JSON): cases for a host with a model, and direct calls."""

from __future__ import annotations

from mcpeval_dsl.interchange import calls, graders, models, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node

NAME = "mcp-server-tester-dataset"
TITLE = "mcp-server-tester dataset"
_RUBRICS = {"correctness": "The answer is correct.", "completeness": "The answer is complete."}


def is_this(document: Document) -> bool:
    cases = document.root.list_of("cases")
    keys = {"toolName", "scenario", "assertions", "expect", "input", "mcpHostConfig"}
    return any(keys & set(case.pairs) and ("id" in case.pairs or "toolName" in case.pairs) for case in cases)


def load(document: Document, suite: Suite) -> None:
    root = document.root
    suite.title = root.text("name")
    for case in root.list_of("cases"):
        wanted = case.get("assertions", "expect") or Node("map", case.line)
        prompt = case.text("input", "scenario", "prompt")
        if prompt.strip():
            _task(suite, document, case, wanted, prompt)
        elif case.text("toolName"):
            _direct(suite, document, case, wanted)
        else:
            task = suite.task(case.text("description"), case.text("id"), document.shown, case.line)
            suite.drop(task, "it has neither a prompt nor a tool")


def _task(suite: Suite, document: Document, case: Node, wanted: Node, prompt: str) -> None:
    task = suite.task(case.text("description") or case.text("id"), case.text("id"), document.shown, case.line)
    task.prompt = prompt
    host = case.get("mcpHostConfig", "host")
    if host is not None and host.kind == "map":
        models.use(suite, host.text("model"), host.text("provider"))
    kept = words.tags(case.texts("tags"))
    if kept:
        task.add("tags", kept)
    repeated = case.whole("iterations")
    if repeated:
        task.add("trials", str(repeated))
    _said(suite, document, task, wanted)
    _called(suite, document, task, wanted)
    _judged(suite, document, task, case, wanted)
    for key in wanted.pairs:
        if key not in (
            "containsText",
            "matchesPattern",
            "response",
            "toolsTriggered",
            "toolCallCount",
            "passesJudge",
            "isError",
        ):
            suite.note("lost", f"`{key}` has no counterpart", document.shown, wanted.line_of(key), task.name)
    answer = case.text("canonicalAnswer")
    if not task.graded and answer:
        graders.answer(suite, task, answer, case.line_of("canonicalAnswer"))
    if not task.graded:
        graders.judge_alone(suite, task, case.line, "nothing of what is expected could be carried over")


def _said(suite: Suite, document: Document, task: Task, wanted: Node) -> None:
    texts = wanted.texts("containsText")
    if texts:
        graders.answer(suite, task, texts[0], wanted.line_of("containsText"), graders.contains(texts, case=True))
    for pattern in wanted.texts("matchesPattern"):
        written = graders.regex(suite, task, pattern, wanted.line_of("matchesPattern"), flags="m")
        if written:
            task.add("grade", written)
    response = wanted.get("response")
    if response is not None:
        written = (
            graders.equals(response.raw, strict=True)
            if response.kind == "text"
            else f"exact {words.value(response.plain())}"
        )
        task.add("grade", written)


def _called(suite: Suite, document: Document, task: Task, wanted: Node) -> None:
    triggered = wanted.get("toolsTriggered")
    named: list[str] = []
    for call in triggered.list_of("calls") if triggered is not None else ():
        name = call.text("name") or call.raw
        pattern = graders.called(suite, name, call.plain_map("arguments"), call.text("server"))
        named.append(name)
        if call.text("required") == "false":
            task.add("expect", f"optional({pattern})")
        else:
            task.add("grade", f"calls {pattern}")
    if triggered is not None and triggered.text("order") == "strict" and len(named) > 1:
        task.add("grade", f"calls ordered({', '.join(suite.tool(name) for name in named)})")
    if triggered is not None and triggered.flag("exclusive"):
        task.add("grade", f"calls only({', '.join(suite.tool(name) for name in named)})" if named else "calls none(*)")
    graders.permits(suite, task, named)
    count = wanted.get("toolCallCount")
    if count is not None:
        least = count.whole("exact", "min") if count.kind == "map" else None
        most = count.whole("exact", "max") if count.kind == "map" else None
        for pattern in graders.counted(least, most, "*"):
            task.add("grade", f"calls {pattern}")


def _judged(suite: Suite, document: Document, task: Task, case: Node, wanted: Node) -> None:
    for each in wanted.list_of("passesJudge"):
        rubric = each.get("rubric")
        text = (
            rubric.text("text") if rubric is not None and rubric.kind == "map" else (rubric.raw if rubric else each.raw)
        )
        claim = _RUBRICS.get(text, text)
        if not claim:
            suite.note("lost", "a judge of a plugin", document.shown, each.line, task.name)
            continue
        reference = each.text("reference") or case.text("canonicalAnswer")
        if reference:
            claim = f"{claim} What is expected: {reference}"
        graders.judged_by(suite, task, [claim])
        models.judge(suite, each.text("model"), each.text("provider"))
        if each.get("threshold"):
            suite.note(
                "changed", "a least score became a claim that holds or does not", document.shown, each.line, task.name
            )


def _direct(suite: Suite, document: Document, case: Node, wanted: Node) -> None:
    requires: list[str] = []
    if wanted.flag("isError"):
        requires += calls.fails()
    else:
        requires.append("class == none")
    requires += [calls.says(text) for text in wanted.texts("containsText")]
    for pattern in wanted.texts("matchesPattern"):
        written = calls.matches(pattern, "m")
        if written:
            requires.append(written)
        else:
            suite.note("lost", f"the pattern `{pattern[:60]}` cannot be used here (RE2)", document.shown, wanted.line)
    response = wanted.get("response")
    if response is not None:
        requires.append(calls.is_value(response.plain()))
    for key in wanted.pairs:
        if key not in ("containsText", "matchesPattern", "response", "isError"):
            suite.note("lost", f"`{key}` has no counterpart in a check", document.shown, wanted.line_of(key))
    title = case.text("description") or case.text("id")
    calls.direct(suite, document.shown, case.text("toolName"), case.plain_map("args"), requires, title=title)
