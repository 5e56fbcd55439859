"""Interchange: mcp-evals YAML, of Node (mclenhard) and Go (wolfeidau): prompts, and what a model thinks of the answers."""

from __future__ import annotations

from mcpeval_dsl.interchange import graders, models, servers
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.placeholders import is_placeholder
from mcpeval_dsl.interchange.trees.node import Node

NAME = "mcp-evals"
TITLE = "mcp-evals YAML"
_SUITE = frozenset(
    {"evals", "model", "grading_model", "mcp_server", "mcp_servers", "timeout", "max_steps", "max_tokens", "name"}
)
_EXPECTED = ("expected_result", "expectedResult")
_EVAL = frozenset({"name", "description", "prompt", *_EXPECTED, "agent_system_prompt", "grading_rubric"})


def is_this(document: Document) -> bool:
    evals = document.root.get("evals")
    return evals is not None and evals.kind == "list" and any("prompt" in item.pairs for item in evals.items)


def load(document: Document, suite: Suite) -> None:
    root = document.root
    suite.title = suite.title or root.text("name")
    model = root.get("model")
    if model is not None and model.kind == "map":
        models.use(suite, model.text("name"), model.text("provider"))
        if model.get("api_key"):
            suite.note("lost", "the model's key: it is yours, not the spec's", document.shown, model.line_of("api_key"))
    else:
        models.use(suite, root.text("model"))
    models.judge(suite, root.text("grading_model"))
    server = root.get("mcp_server", "server")
    if server is not None and not suite.servers:
        servers.one(suite, server.text("name") or "tested", server, document.shown, document.folder)
    for each in root.list_of("evals"):
        _task(suite, document, each, root)
    for key in root.pairs:
        if key not in _SUITE:
            suite.note("lost", f"the setting `{key}`", document.shown, root.line_of(key))


def _task(suite: Suite, document: Document, each: Node, root: Node) -> None:
    task = suite.task(each.text("description"), each.text("name"), document.shown, each.line)
    task.prompt, task.system = each.text("prompt"), each.text("agent_system_prompt")
    if not task.prompt.strip():
        suite.drop(task, "it has no prompt")
        return
    steps = root.whole("max_steps")
    if steps:
        task.add("budget", f"turns <= {steps} hard {steps}")
    expected = each.text(*_EXPECTED)
    claims = _claims(suite, document, each.get("grading_rubric"), task)
    if expected and is_placeholder(expected):
        graders.untestable(suite, task, expected, each.line_of(next(key for key in _EXPECTED if key in each.pairs)))
        return
    if expected:
        claims.insert(0, f"The answer is as expected: {expected}")
    elif not claims:
        claims.append(f"The answer does what was asked: {each.text('description') or task.title or task.prompt[:200]}")
        said = "nothing is expected of the answer; a judge is asked whether it does what was asked"
        suite.note("look", said, document.shown, each.line, task.name)
    graders.judged_by(suite, task, claims)
    said = "scores from 1 to 5 in five dimensions became claims that hold or do not"
    suite.note("changed", said, document.shown, each.line, task.name)
    for key in each.pairs:
        if key not in _EVAL:
            suite.note("lost", f"`{key}`", document.shown, each.line_of(key), task.name)


def _claims(suite: Suite, document: Document, rubric: Node | None, task: Task) -> list[str]:
    """`must_have` are claims; penalties are claims that must not hold, said so; the rest is lost."""
    if rubric is None:
        return []
    claims: list[str] = []
    for key, part in rubric.pairs.items():
        claims += part.texts("must_have")
        claims += [f"It is not so that the answer does this: {text}" for text in part.texts("penalties")]
        if part.get("nice_to_have"):
            said = f"`nice_to_have` of {key}: nothing here is nice to have"
            suite.note("lost", said, document.shown, part.line_of("nice_to_have"), task.name)
        if key in ("minimum_scores", "dimensions"):
            suite.note("lost", f"`{key}`: claims hold or do not", document.shown, rubric.line_of(key), task.name)
    return claims
