"""Interchange: mcpchecker (once gevals): `kind: Eval` with its sets of tasks, or `kind: Task` files by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mcpeval_dsl.interchange import calls, graders, models, nearby, reading, servers, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.importers.mcpchecker_steps import Steps
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees import yaml_tree
from mcpeval_dsl.interchange.trees.node import Node, Unreadable

NAME = "mcpchecker"
TITLE = "mcpchecker YAML"
MOST_TASKS = 2_000


def is_this(document: Document) -> bool:
    return document.kind in ("yaml", "json") and any(
        root.text("kind") in ("Eval", "Task")
        and ("spec" in root.pairs or "steps" in root.pairs or "config" in root.pairs)
        for root in document.roots
    )


def load(document: Document, suite: Suite) -> None:
    for root in document.roots:
        kind = root.text("kind")
        if kind == "Eval":
            _eval(suite, document, root)
        elif kind == "Task":
            task(suite, document.path, document.shown, root, ())
        elif kind:
            suite.note("lost", f"`kind: {kind[:30]}` is no task", document.shown, root.line)


def load_folder(folder: Path, shown: str, suite: Suite) -> None:
    """All files of tasks in a folder and below it, as one suite."""
    root = nearby.project_of(folder / "x")
    for path in sorted(folder.rglob("*.y*ml"))[: MOST_TASKS * 2]:
        real = nearby.inside(root, path)
        name = f"{shown.rstrip('/')}/{path.relative_to(folder).as_posix()}"
        try:
            roots = yaml_tree.read(reading.read(real, name).text) if real is not None else ()
        except Unreadable as problem:
            suite.note("lost", f"`{name}`: {problem.reason}", name, problem.line)
            continue
        for each in roots:
            if each.text("kind") == "Task" and ("spec" in each.pairs or "steps" in each.pairs):
                task(suite, real, name, each, ())


def _eval(suite: Suite, document: Document, root: Node) -> None:
    metadata, config = root.get("metadata"), root.get("config", "spec")
    suite.name = metadata.text("name") if metadata is not None else ""
    if config is None:
        return
    _servers(suite, document, config)
    agent = config.get("agent")
    if agent is not None and agent.text("model"):
        models.use(suite, agent.text("model"))
    for key in ("extensions", "agentFile", "agent", "llmJudge"):
        if config.get(key) is not None:
            said = (
                "where the judge is reached is yours, not the spec's"
                if key == "llmJudge"
                else "what is not of the tasks"
            )
            suite.note("lost", f"`{key}`: {said}", document.shown, config.line_of(key))
    seen: dict[Path, str] = {}
    for each in config.list_of("taskSets"):
        asserted = each.get("assertions")
        assertions = [asserted] if asserted is not None else []
        for path, shown in _paths(suite, document, each):
            if len(seen) >= MOST_TASKS:
                suite.note("lost", f"tasks behind the first {MOST_TASKS:,}", document.shown, each.line)
                return
            _file(suite, path, shown, each, assertions, document, seen)


def _servers(suite: Suite, document: Document, config: Node) -> None:
    if suite.servers:
        return
    inline = config.get("mcpServers")
    if inline is not None:
        servers.from_map(suite, inline, document.shown, document.folder)
        return
    name = config.text("mcpConfigFile")
    if not name or document.folder is None or document.path is None:
        return
    found = nearby.inside(nearby.project_of(document.path), document.folder / name)
    try:
        tree = servers.of_file(found, name) if found is not None else None
    except Unreadable as problem:
        suite.note(
            "lost", f"the servers in `{name}`: {problem.reason}", document.shown, config.line_of("mcpConfigFile")
        )
        return
    if tree is None:
        suite.note("lost", f"the servers in `{name}`: it is not there", document.shown, config.line_of("mcpConfigFile"))
        return
    servers.from_map(suite, tree, name, None if found is None else found.parent)


def _paths(suite: Suite, document: Document, each: Node) -> Iterator[tuple[Path, str]]:
    if document.folder is None or document.path is None:
        return
    root = nearby.project_of(document.path)
    pattern = each.text("path") or each.text("glob")
    base, rest = document.folder, pattern
    while rest.startswith("../"):
        base, rest = base.parent, rest[3:]
    rest = rest.removeprefix("./")
    found: list[Path] = []
    if rest and not rest.startswith("/") and ".." not in rest.split("/"):
        found = nearby.matching(base, rest) if re.search(r"[*?\[]", rest) else [base / rest]
    kept = [real for path in found[: MOST_TASKS * 2] if (real := nearby.inside(root, path)) is not None]
    if not kept:
        suite.note("lost", f"the tasks of `{pattern[:80]}`: there are none", document.shown, each.line)
    for path in kept:
        yield path, path.relative_to(root).as_posix()


def _file(
    suite: Suite, path: Path, shown: str, each: Node, assertions: list[Node], document: Document, seen: dict[Path, str]
) -> None:
    try:
        roots = yaml_tree.read(reading.read(path, shown).text)
    except Unreadable as problem:
        suite.note("lost", f"`{shown}`: {problem.reason}", shown, problem.line)
        return
    for root in roots:
        if root.text("kind") == "Task" and _selected(root, each.get("labelSelector")):
            if path in seen:
                suite.note("lost", f"the task `{seen[path]}` a second time", document.shown, each.line)
                continue
            seen[path] = task(suite, path, shown, root, assertions, document.shown).name
        elif root.text("kind") == "Prompt":
            suite.note("lost", f"`{shown}` asks for a prompt of the server's; only tools are tested", shown, root.line)


def _selected(root: Node, selector: Node | None) -> bool:
    metadata = root.get("metadata")
    labels = metadata.map_of("labels") if metadata is not None else {}
    wanted = selector.pairs if selector is not None else {}
    return all(key in labels and labels[key].raw == value.raw for key, value in wanted.items())


def task(
    suite: Suite, path: Path | None, shown: str, root: Node, assertions: list[Node] | tuple[()], told_by: str = ""
) -> Task:
    """One `kind: Task`, with the assertions of its set."""
    metadata = root.get("metadata") or Node("map", root.line)
    name = metadata.text("name")
    found = suite.task(metadata.text("description") or (name if " " in name else ""), name, shown, root.line)
    body = root.get("spec", "steps") or Node("map", root.line)
    prompt = body.get("prompt")
    found.prompt = prompt.text("inline") or prompt.raw if prompt is not None else ""
    if prompt is not None and not found.prompt and prompt.text("file"):
        found.prompt = _prompt_file(suite, path, prompt, found)
    if metadata.text("difficulty"):
        found.add("difficulty", words.slug(metadata.text("difficulty"), "level"))
    labels = [value.raw for key, value in metadata.map_of("labels").items() if key != "requires"]
    kept = words.tags([*labels, *([metadata.text("category")] if metadata.text("category") else [])])
    if kept:
        found.add("tags", kept)
    if metadata.whole("runs"):
        found.add("trials", str(metadata.whole("runs")))
    limits = body.get("limits")
    if limits is not None and re.fullmatch(r"[1-9]\d{0,4}[smh]", limits.text("timeout")):
        found.add("budget", f"time <= {limits.text('timeout')} hard {limits.text('timeout')}")
    if not found.prompt.strip():
        suite.drop(found, "it has no prompt")
        return found
    Steps(suite, found, path, shown, body).carry()
    for each in assertions:
        _assertions(suite, found, each, told_by)
    if not found.graded:
        graders.judge_alone(suite, found, root.line, "no way to verify it could be carried over")
    return found


def _prompt_file(suite: Suite, path: Path | None, prompt: Node, task: Task) -> str:
    if path is None:
        return ""
    try:
        return nearby.text_of(nearby.project_of(path), path.parent, prompt.text("file"))
    except Unreadable as problem:
        suite.note("lost", f"the prompt: {problem.reason}", task.path, prompt.line, task.name)
        return ""


def _assertions(suite: Suite, task: Task, each: Node, shown: str) -> None:
    used = [_pattern(suite, node) for node in each.list_of("toolsUsed")]
    either = [_pattern(suite, node) for node in each.list_of("requireAny")]
    never = [_pattern(suite, node) for node in each.list_of("toolsNotUsed")]
    if None in (*used, *either, *never):
        suite.note("lost", "a `toolPattern` that no glob says", shown, each.line, task.name)
    for pattern in used:
        if pattern:
            task.add("grade", f"calls {pattern}")
    if any(either):
        task.add("grade", f"calls {calls.several([pattern for pattern in either if pattern])}")
    if any(never):
        task.add("grade", f"calls none({', '.join(pattern for pattern in never if pattern)})")
    for pattern in graders.counted(each.whole("minToolCalls"), each.whole("maxToolCalls"), "*"):
        task.add("grade", f"calls {pattern}")
    ordered = [
        suite.tool(node.text("name"), node.text("server"))
        for node in each.list_of("callOrder")
        if node.text("type") in ("tool", "")
    ]
    if len(ordered) > 1:
        task.add("grade", f"calls ordered({', '.join(ordered)})")
    if not task.has("may "):
        task.add("may", "*")
        said = "`may *` permits every call, as the source does: narrow it to what the task needs"
        suite.note("look", said, task.path, task.line, task.name)
    for key in each.pairs:
        if key not in ("toolsUsed", "requireAny", "toolsNotUsed", "minToolCalls", "maxToolCalls", "callOrder"):
            suite.note("lost", f"the assertion `{key}`", shown, each.line_of(key), task.name)


def _pattern(suite: Suite, node: Node) -> str | None:
    server = node.text("server")
    if node.text("tool"):
        return suite.tool(node.text("tool"), server)
    return calls.from_regex(suite, node.text("toolPattern") or ".*", server)
