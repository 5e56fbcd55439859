"""Interchange: arbiter JSON: questions with answers, and questions for which no tool should be called."""

from __future__ import annotations

from mcpeval_dsl.interchange import graders, models, servers
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.interchange.trees.node import Node

NAME = "arbiter"
TITLE = "arbiter JSON"
_SUITE = frozenset(
    ["name", "models", "judge", "repeats", "mcp_servers", "tool_use_evals", "abstention_evals", "description"]
)


def is_this(document: Document) -> bool:
    return bool({"tool_use_evals", "abstention_evals"} & document.keys())


def load(document: Document, suite: Suite) -> None:
    root = document.root
    suite.title = root.text("name")
    suite.trials = root.whole("repeats")
    for name in root.texts("models"):
        models.use(suite, name)
    judge = root.get("judge")
    if judge is not None:
        models.judge(suite, judge.text("model"))
    found = root.get("mcp_servers", "mcpServers")
    if found is not None and not suite.servers:
        servers.from_map(suite, found, document.shown, document.folder)
    for each in root.list_of("tool_use_evals"):
        _answered(suite, document, each)
    for each in root.list_of("abstention_evals"):
        task = suite.task("", _name(each), document.shown, each.line)
        task.prompt = each.text("query", "prompt") or each.raw
        if not task.prompt:
            suite.drop(task, "it has no query")
            continue
        task.add("tags", "abstain")
        task.add("grade", "calls none(*)")
    for key in root.pairs:
        if key not in _SUITE:
            suite.note("lost", f"the setting `{key}`", document.shown, root.line_of(key))


def _name(each: Node) -> str:
    return each.text("id", "name") or " ".join((each.text("query") or each.raw).split()[:6])


def _answered(suite: Suite, document: Document, each: Node) -> None:
    task = suite.task("", _name(each), document.shown, each.line)
    task.prompt = each.text("query", "prompt")
    if not task.prompt:
        suite.drop(task, "it has no query")
        return
    task.add("tags", "tools")
    task.add("expect", "at_least(1, *)")
    expected, line = each.text("answer"), each.line_of("answer")
    if each.text("judge_mode") == "contains":
        graders.answer(suite, task, expected, line, graders.contains([expected]))
        return
    claim = [f"The answer is right; what is expected is: {expected}"]
    graders.answer(suite, task, expected, line, graders.judge(claim))
    suite.judged = suite.judged or not task.placeholder
