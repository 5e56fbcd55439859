"""Interchange: mcpvals JSON: workflows of user messages, and suites of direct calls."""

from __future__ import annotations

from mcpeval_dsl.interchange import calls, graders, models, servers
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task, Turn
from mcpeval_dsl.interchange.placeholders import is_placeholder
from mcpeval_dsl.interchange.trees.node import Node

NAME = "mcpvals"
TITLE = "mcpvals JSON"
_LOST = ("resourceSuites", "promptSuites", "samplingSuites", "oauth2Suites", "oauth2TestSuites")
_SUITE = frozenset(
    [
        "server",
        "workflows",
        "toolHealthSuites",
        "timeout",
        "llmJudge",
        "openaiKey",
        "judgeModel",
        "passThreshold",
        "debug",
        "reporters",
        "$schema",
    ]
)


def is_this(document: Document) -> bool:
    root = document.root
    if "toolHealthSuites" in root.pairs:
        return True
    return any("steps" in each.pairs and each.get("steps") is not None for each in root.list_of("workflows"))


def load(document: Document, suite: Suite) -> None:
    root = document.root
    server = root.get("server")
    if server is not None and not suite.servers:
        servers.one(suite, "tested", server, document.shown, document.folder)
    if root.flag("llmJudge"):
        models.judge(suite, root.text("judgeModel"))
    for each in root.list_of("workflows"):
        _workflow(suite, document, each, root.flag("llmJudge"))
    for each in root.list_of("toolHealthSuites"):
        for test in each.list_of("tests"):
            _call(suite, document, test, each.text("name"))
    for key in root.pairs:
        if key in _LOST:
            suite.note("lost", f"`{key}`: only tools are tested", document.shown, root.line_of(key))
        elif key not in _SUITE:
            suite.note("lost", f"the setting `{key}`", document.shown, root.line_of(key))


def _workflow(suite: Suite, document: Document, each: Node, judged: bool) -> None:
    task = suite.task(each.text("description"), each.text("name"), document.shown, each.line)
    steps = [step for step in each.list_of("steps") if step.text("user").strip()]
    if not steps:
        suite.drop(task, "no step of it says anything")
        return
    tools = each.texts("expectTools")
    wanted = tools or [name for step in steps for name in step.texts("expectTools")]
    if wanted:
        patterns = [suite.tool(name) for name in wanted]
        task.add("grade", f"calls {graders.in_order(patterns)}")
        graders.permits(suite, task, wanted)
    if len(steps) == 1:
        task.prompt = steps[0].text("user")
        _state(suite, steps[0], task)
    else:
        for step in steps:
            turn = Turn(step.text("user"))
            state = step.text("expectedState")
            if state and not is_placeholder(state):
                turn.statements.append(f"grade {graders.contains([state])}")
            task.turns.append(turn)
        if any(step.text("expectedState") for step in steps[:-1]):
            said = "`expectedState` of every step is graded; mcpvals looked at the last one only"
            suite.note("changed", said, document.shown, each.line, task.name)
    task.add("grade", "calls none(errors(*))")
    if judged:
        said = "its judge's score of the whole workflow: say what must hold as claims of `grade judge`"
        suite.note("lost", said, document.shown, each.line, task.name)


def _state(suite: Suite, step: Node, task: Task) -> None:
    state = step.text("expectedState")
    if state:
        graders.answer(suite, task, state, step.line_of("expectedState"), graders.contains([state]))


def _call(suite: Suite, document: Document, test: Node, group: str) -> None:
    """`name` of a test is the name of the tool."""
    requires: list[str] = []
    error, expected = test.get("expectedError"), test.get("expectedResult")
    if error is not None:
        requires += calls.fails(error.raw if error.kind == "text" else "")
    else:
        requires.append("class == none")
    if expected is not None:
        value = expected.plain()
        short = isinstance(value, str | int | float) and not isinstance(value, bool)
        requires.append(calls.says(expected.raw) if short else calls.is_value(value))
    latency = test.number("maxLatency")
    if latency is not None and latency > 0:
        requires.append(f"latency.max <= {latency:.0f}ms")
    title = ": ".join(part for part in (group, test.text("description")) if part)
    calls.direct(suite, document.shown, test.text("name"), test.plain_map("args"), requires, title=title)
    if test.get("retries"):
        suite.note("lost", "`retries`: a check is made once", document.shown, test.line_of("retries"))
