"""Interchange: the evaluators of lastmile's mcp-eval, by name, as graders."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.interchange import graders, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node

_Rule = Callable[[Suite, Task, Node, int], str | None]


def add(suite: Suite, document: Document, task: Task, each: Node, expected: str) -> bool:
    """One evaluator, `Name: {arguments}` or a bare name; True where it reads the expected output."""
    name, arguments = each.raw, Node("map", each.line)
    if each.kind == "map" and each.pairs:
        name, value = next(iter(each.pairs.items()))
        if name == "type":
            name, arguments = value.raw, each
        elif value.kind == "map":
            arguments = value
    if name == "EqualsExpected":
        _equals(task, arguments, expected)
        return True
    rule = _RULES.get(name)
    if rule is None:
        suite.note("lost", f"the evaluator `{name}` has no counterpart", document.shown, each.line, task.name)
        return False
    lost = rule(suite, task, arguments, each.line)
    if lost:
        suite.note("changed", f"`{name}`: {lost}", document.shown, each.line, task.name)
    return name == "LLMJudge" and bool(expected) and arguments.text("include_expected") != "false"


def _equals(task: Task, arguments: Node, expected: str) -> None:
    if not expected or task.placeholder:
        return
    case = arguments.text("case_sensitive") != "false"
    if arguments.text("exact_match") == "false":
        task.add("grade", graders.contains([expected], case=case))
    else:
        task.add("grade", graders.equals(expected, strict=case))


def _contains(suite: Suite, task: Task, arguments: Node, line: int, negated: bool = False) -> str | None:
    text = arguments.text("text")
    case = arguments.flag("case_sensitive")
    if arguments.flag("regex"):
        written = graders.regex(suite, task, text, line, flags="" if case else "i", negated=negated)
        if written:
            task.add("grade", written)
    elif text:
        task.add("grade", ("not " if negated else "") + graders.contains([text], case=case))
    return None


def _lacks(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    return _contains(suite, task, arguments, line, negated=True)


def _called(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool, times = arguments.text("tool_name"), arguments.whole("min_times") or 1
    pattern = suite.tool(tool)
    task.add("grade", "calls " + (pattern if times == 1 else f"at_least({times}, {pattern})"))
    graders.permits(suite, task, [tool])
    return None


def _count(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool, count = arguments.text("tool_name"), arguments.whole("expected_count") or 0
    task.add("grade", f"calls {graders.counted(count, count, suite.tool(tool))[0]}")
    graders.permits(suite, task, [tool] if count else [])
    return None


def _called_with(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool = arguments.text("tool_name")
    task.add("grade", f"calls {graders.called(suite, tool, arguments.plain_map('expected_args'))}")
    graders.permits(suite, task, [tool])
    return None


def _sequence(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tools = arguments.texts("expected_sequence")
    if not tools:
        return "it names no tools"
    patterns = [suite.tool(name) for name in tools]
    task.add("grade", f"calls {graders.in_order(patterns)}")
    graders.permits(suite, task, tools)
    if arguments.text("allow_other_calls") == "false":
        task.add("grade", f"calls only({', '.join(dict.fromkeys(patterns))})")
        return "calls of the same tools beside the sequence are let pass"
    return None


def _success(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool = arguments.text("tool_name")
    task.add("grade", f"calls none(errors({suite.tool(tool) if tool else '*'}))")
    rate = arguments.number("min_rate")
    return "a share of failing calls was allowed; here none is" if rate is None or rate < 1 else None


def _failed(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool = arguments.text("tool_name")
    task.add("grade", f"calls errors({suite.tool(tool) if tool else '*'})")
    graders.permits(suite, task, [tool] if tool else [])
    return "at least one call must fail, not all"


def _turns(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    most = arguments.whole("max_iterations")
    if most:
        task.add("budget", f"turns <= {most}")
    return None


def _time(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    most = arguments.number("max_ms")
    if most:
        task.add("budget", f"time <= {graders.duration(most)}")
    return None


def _path(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    steps, extra = arguments.whole("optimal_steps"), arguments.whole("allow_extra_steps") or 0
    if steps:
        task.add("budget", f"calls <= {steps + extra}")
    tools = arguments.texts("expected_tool_sequence") or arguments.texts("golden_path")
    if tools:
        task.add("expect", graders.in_order([suite.tool(name) for name in tools]))
        graders.permits(suite, task, tools)
    return "how often the agent goes back is not graded"


def _judge(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    graders.judged_by(suite, task, [arguments.text("rubric")])
    return "a score with a least value became a claim that holds or does not"


def _criteria(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    claims = [each.text("description") or each.text("name") for each in arguments.list_of("criteria")]
    if not any(claims):
        return "it has no criteria"
    graders.judged_by(suite, task, claims)
    return "scores with least values became claims that hold or do not"


def _output(suite: Suite, task: Task, arguments: Node, line: int) -> str | None:
    tool = arguments.text("tool_name")
    if tool:
        task.add("expect", suite.tool(tool))
        graders.permits(suite, task, [tool])
    wanted = arguments.get("expected_output")
    shown = words.clean(wanted.raw)[0][:60] if wanted is not None else ""
    return f"what a tool answers (`{shown}`) is no matter of the agent's: say it in a `check`"


_RULES: dict[str, _Rule] = {
    "ResponseContains": _contains,
    "NotContains": _lacks,
    "ToolWasCalled": _called,
    "ExactToolCount": _count,
    "ToolCalledWith": _called_with,
    "ToolSequence": _sequence,
    "ToolSuccessRate": _success,
    "ToolFailed": _failed,
    "MaxIterations": _turns,
    "ResponseTimeCheck": _time,
    "PathEfficiency": _path,
    "LLMJudge": _judge,
    "MultiCriteriaJudge": _criteria,
    "ToolOutputMatches": _output,
}
