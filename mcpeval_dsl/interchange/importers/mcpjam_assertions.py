"""Interchange: MCPJam's assertions, by type, as graders."""

from __future__ import annotations

from mcpeval_dsl.interchange import graders
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node


def add(suite: Suite, document: Document, task: Task, each: Node, in_turn: bool = False) -> list[str]:
    """Grades the task, or gives the statements of one turn of it."""
    found = _grader(suite, document, task, each)
    written: list[str] = []
    for line in found:
        word, _, rest = line.partition(" ")
        if in_turn and word == "grade":
            written.append(line)
        else:
            task.add(word, rest)
    tool = each.text("toolName")
    if tool and each.text("type") not in ("toolNeverCalled", ""):
        graders.permits(suite, task, [tool])
    return written


def _grader(suite: Suite, document: Document, task: Task, each: Node) -> list[str]:
    kind, tool = each.text("type", "kind"), each.text("toolName")
    if kind == "toolCalledWith":
        return [f"grade calls {_with(suite, document, task, each)}"]
    if kind == "toolCalledAtLeastOnce":
        return [f"grade calls {suite.tool(tool)}"]
    if kind == "toolNeverCalled":
        return [f"grade calls none({suite.tool(tool)})"]
    if kind == "firstToolWas":
        suite.note("changed", "`firstToolWas`: that it comes first is lost", document.shown, each.line, task.name)
        return [f"grade calls {suite.tool(tool)}"]
    if kind == "responseContains":
        return [f"grade {graders.contains([each.text('needle')], case=each.flag('caseSensitive'))}"]
    if kind == "responseMatches":
        written = graders.regex(suite, task, each.text("pattern"), each.line)
        return [f"grade {written}"] if written else []
    if kind == "noToolErrors":
        return ["grade calls none(errors(*))"]
    if kind == "finalAssistantMessageNonEmpty":
        return ["grade regex /\\S/"]
    if kind == "tokenBudgetUnder" and each.whole("tokens"):
        return [f"budget tokens <= {each.whole('tokens')}"]
    if kind == "turnCountUnder" and each.whole("turns"):
        return [f"budget turns <= {max(1, (each.whole('turns') or 1) - 1)}"]
    suite.note("lost", f"the assertion `{kind[:40]}` has no counterpart", document.shown, each.line, task.name)
    return []


def _with(suite: Suite, document: Document, task: Task, each: Node) -> str:
    wrapped = each.get("args")
    matching = wrapped.text("argumentMatching") if wrapped is not None else ""
    plain = wrapped.plain_map("args") if wrapped is not None and matching != "ignore" else {}
    if matching == "exact":
        suite.note("changed", "arguments beside the named ones are let pass", document.shown, each.line, task.name)
    pattern = graders.called(suite, each.text("toolName"), plain)
    least = each.whole("minCount") or 1
    return pattern if least == 1 else f"at_least({least}, {pattern})"
