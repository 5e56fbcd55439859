"""Interchange: mcp-server-tester YAML or JSON with `evals` (prompts for a model) and `tools` (calls without one)."""

from __future__ import annotations

from mcpeval_dsl.interchange import calls, graders, models, servers
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node

NAME = "mcp-server-tester"
TITLE = "mcp-server-tester"


def is_this(document: Document) -> bool:
    root = document.root
    found = [part for key in ("evals", "tools") if (part := root.get(key)) is not None and part.kind == "map"]
    return any(part.get("tests", "expected_tool_list") is not None for part in found)


def load(document: Document, suite: Suite) -> None:
    root = document.root
    found = root.get("mcpServers", "servers")
    if found is not None and not suite.servers:
        servers.from_map(suite, found, document.shown, document.folder)
    evals, tools = root.get("evals"), root.get("tools")
    if evals is not None and evals.kind == "map":
        for name in evals.texts("models"):
            models.use(suite, name)
        for each in evals.list_of("tests"):
            _task(suite, document, each, evals)
    if tools is not None and tools.kind == "map":
        calls.present(suite, document.shown, tools.texts("expected_tool_list"))
        for each in tools.list_of("tests"):
            for call in each.list_of("calls") or [each]:
                _call(suite, document, call, each.text("name"))
    for key in root.pairs:
        if key not in ("evals", "tools", "mcpServers", "servers", "$schema"):
            suite.note("lost", f"the setting `{key}`", document.shown, root.line_of(key))


def _task(suite: Suite, document: Document, each: Node, evals: Node) -> None:
    task = suite.task(each.text("name"), "", document.shown, each.line)
    task.prompt = each.text("prompt")
    if not task.prompt.strip():
        suite.drop(task, "it has no prompt")
        return
    steps, timeout = evals.whole("max_steps"), evals.number("timeout")
    if steps:
        task.add("budget", f"turns <= {steps} hard {steps}")
    if timeout and timeout >= 1:
        task.add("budget", f"time <= {graders.duration(timeout)} hard {graders.duration(timeout)}")
    wanted = each.get("expected_tool_calls")
    if wanted is not None:
        _tools(suite, document, task, wanted)
    for scorer in each.list_of("response_scorers"):
        _scorer(suite, document, task, scorer)
    if not task.graded:
        graders.judge_alone(suite, task, each.line, "nothing is expected")


def _tools(suite: Suite, document: Document, task: Task, wanted: Node) -> None:
    required, allowed = wanted.texts("required"), wanted.texts("allowed")
    if required:
        task.add("grade", f"calls {', '.join(suite.tool(name) for name in required)}")
    if wanted.get("allowed") is not None:
        patterns = [suite.tool(name) for name in dict.fromkeys([*allowed, *required])]
        task.add("grade", f"calls only({', '.join(patterns)})" if patterns else "calls none(*)")
    graders.permits(suite, task, [*required, *allowed])
    if required and not allowed:
        said = "the agent is offered all tools; the source offered the required ones alone"
        suite.note("changed", said, document.shown, wanted.line, task.name)


def _scorer(suite: Suite, document: Document, task: Task, scorer: Node) -> None:
    kind = scorer.text("type")
    if kind == "regex":
        written = graders.regex(suite, task, scorer.text("pattern"), scorer.line, flags="i")
        if written:
            task.add("grade", written)
    elif kind in ("llm-judge", "llm_judge"):
        graders.judged_by(suite, task, [scorer.text("criteria")])
        if scorer.get("threshold"):
            said = f"the least score {scorer.text('threshold')}: a claim holds or does not"
            suite.note("changed", said, document.shown, scorer.line_of("threshold"), task.name)
    else:
        suite.note("lost", f"the scorer `{kind[:40]}` has no counterpart", document.shown, scorer.line, task.name)


def _call(suite: Suite, document: Document, call: Node, title: str) -> None:
    expect = call.get("expect")
    requires: list[str] = ["class == none"]
    if expect is not None and expect.get("success") is not None and not expect.flag("success"):
        error = expect.get("error")
        requires = calls.fails(error.text("contains") if error is not None else "")
    elif expect is not None and (result := expect.get("result")) is not None and result.kind == "map":
        if result.get("contains") is not None:
            requires.append(calls.says(result.text("contains")))
        if (equal := result.get("equals")) is not None:
            requires.append(calls.is_value(equal.plain()))
        if result.get("schema") is not None:
            suite.note(
                "lost",
                "the schema of a result: `schema valid` holds results to the server's own",
                document.shown,
                result.line,
            )
    plain = call.plain_map("params", "args", "arguments")
    calls.direct(suite, document.shown, call.text("tool"), plain, requires, title=title)
