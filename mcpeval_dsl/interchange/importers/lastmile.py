"""Interchange: datasets of lastmile's mcp-eval (YAML or JSON): cases with evaluators; servers from `mcpeval.yaml` nearby."""

from __future__ import annotations

import re

from mcpeval_dsl.interchange import graders, servers, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.importers import lastmile_evaluators
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.placeholders import is_placeholder
from mcpeval_dsl.interchange.trees.node import Node, Unreadable

NAME = "lastmile"
TITLE = "lastmile mcp-eval dataset"


def is_this(document: Document) -> bool:
    return any("inputs" in case.pairs for case in document.root.list_of("cases"))


def load(document: Document, suite: Suite) -> None:
    root = document.root
    suite.title = root.text("name")
    name = root.text("server_name")
    if not suite.servers and not _configured(suite, document, name) and name:
        servers.placeholder(suite, document.shown, name)
    agent = root.get("agent_spec")
    instruction = agent.text("instruction") if agent is not None and agent.kind == "map" else ""
    if agent is not None and agent.kind != "map":
        suite.note("lost", "the agent's settings stand elsewhere", document.shown, agent.line)
    for case in root.list_of("cases"):
        task = _task(suite, document, case, root)
        if task is not None:
            task.system = instruction


def _configured(suite: Suite, document: Document, name: str) -> bool:
    """Servers of the nearest `mcpeval.yaml`; True where the one that is wanted was found."""
    folder = document.folder
    for _ in range(3):
        if folder is None:
            return False
        path = folder / "mcpeval.yaml"
        if path.is_file():
            try:
                found = servers.of_file(path, path.name)
            except Unreadable:
                return False
            wanted = found.get(name) if found is not None and name else None
            if wanted is not None:
                servers.one(suite, name, wanted, path.name, folder)
            elif found is not None:
                servers.from_map(suite, found, path.name, folder)
            return bool(suite.servers)
        folder = folder.parent if folder.parent != folder else None
    return False


def _task(suite: Suite, document: Document, case: Node, root: Node) -> Task | None:
    task = suite.task(case.text("description"), case.text("name"), document.shown, case.line)
    task.prompt = case.text("inputs")
    if not task.prompt:
        suite.drop(task, "its inputs are no text")
        return None
    metadata = case.get("metadata")
    if metadata is not None:
        if metadata.text("difficulty"):
            task.add("difficulty", words.slug(metadata.text("difficulty"), "level"))
        found = [value.raw for key, value in metadata.pairs.items() if key != "difficulty" and value.kind == "text"]
        kept = words.tags(tag for tag in found if re.fullmatch(r"[\w -]{2,40}", tag))
        if kept:
            task.add("tags", kept)
    expected = case.text("expected_output")
    if expected and is_placeholder(expected):
        graders.untestable(suite, task, expected, case.line_of("expected_output"))
    used = False
    for each in [*case.list_of("evaluators"), *root.list_of("evaluators")]:
        used = lastmile_evaluators.add(suite, document, task, each, expected) or used
    if expected and not used and not task.placeholder:
        if task.has("grade contains") and expected in "".join(each.text for each in task.statements):
            return task
        graders.judged_by(suite, task, [f"The answer agrees with this one: {expected}"])
        said = "`expected_output`, which only some evaluators read, is given to a judge"
        suite.note("changed", said, document.shown, case.line_of("expected_output"), task.name)
    if not task.graded:
        graders.judge_alone(suite, task, case.line, "no evaluator of it could be carried over")
    return task
