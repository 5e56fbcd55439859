"""Interchange: promptfoo configurations that speak of MCP: prompts × tests, with the assertions that have a counterpart."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping

from mcpeval_dsl.interchange import calls, graders, models, nearby, servers
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.importers import promptfoo_assertions
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.interchange.trees import yaml_tree
from mcpeval_dsl.interchange.trees.node import Node, Unreadable

NAME = "promptfoo"
TITLE = "promptfoo configuration"
MOST_TASKS = 5_000
_VARIABLE = re.compile(r"\{\{-?\s*(\w+(?:\.\w+)*)\s*(?:\|[^}]*)?-?\}\}")
_SUITE = frozenset(["description", "prompts", "providers", "targets", "tests", "defaultTest", "env", "$schema", "tags"])


def is_this(document: Document) -> bool:
    root = document.root
    return "tests" in root.pairs and bool({"prompts", "providers", "targets", "defaultTest"} & set(root.pairs))


def load(document: Document, suite: Suite) -> None:
    root = document.root
    suite.title = root.text("description")
    direct = _providers(suite, document, root)
    default = root.get("defaultTest")
    prompts = list(_prompts(suite, document, root)) or [("{{prompt}}", root.line)]
    tests = list(_tests(suite, document, root))
    for test, (prompt, line) in itertools.product(tests, prompts):
        for variables in _variables(test, default):
            if suite.found + len(suite.checks) >= MOST_TASKS:
                suite.note("lost", f"tests behind the first {MOST_TASKS:,}", document.shown, test.line)
                return
            _task(suite, document, test, default, _filled(prompt, variables), line, variables, direct)
    for key in root.pairs:
        if key not in _SUITE:
            suite.note("lost", f"`{key}`", document.shown, root.line_of(key))


def _providers(suite: Suite, document: Document, root: Node) -> bool:
    """Servers and models; True where the provider is a server itself, so that tests are calls."""
    direct = False
    for each in root.list_of("providers", "targets"):
        name, config = each.text("id") or each.raw, each.get("config")
        if not name and each.kind == "map" and each.pairs:
            name, value = next(iter(each.pairs.items()))
            config = value.get("config")
        found = config.get("mcp") if config is not None and config.kind == "map" else None
        if name == "mcp":
            direct, found = True, config
        elif not name.startswith(("file:", "python:", "http", "exec:", "webhook")):
            own = config.text("model") if config is not None and config.kind == "map" else ""
            models.use(suite, own or name)
        if found is not None and found.kind == "map" and suite.servers:
            said = f"the servers of a further provider (`{name[:40]}`): versions of a server are an axis of `matrix`"
            suite.note("lost", said, document.shown, each.line)
        elif found is not None and found.kind == "map":
            listed = found.list_of("servers", "server")
            for server in [node for node in listed if node.kind == "map"] or (
                [found] if found.get("command", "url") else []
            ):
                servers.one(suite, server.text("name") or "tested", server, document.shown, document.folder)
    return direct


def _prompts(suite: Suite, document: Document, root: Node) -> Iterator[tuple[str, int]]:
    for each in root.list_of("prompts"):
        text = each.raw or each.text("raw", "content", "prompt")
        name = (each.text("id") if each.kind == "map" else "") or text
        if name.startswith("file://"):
            try:
                text = _file(document, name)
            except Unreadable as problem:
                suite.note("lost", f"a prompt: {problem.reason}", document.shown, each.line)
                continue
        if text:
            yield _chat(text), each.line


def _chat(text: str) -> str:
    """What the user says, of a prompt that is a list of messages."""
    if not text.lstrip().startswith("["):
        return text
    try:
        messages = json.loads(text)
        said = [m["content"] for m in messages if m.get("role") == "user" and isinstance(m.get("content"), str)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text
    return "\n\n".join(said) or text


def _file(document: Document, name: str) -> str:
    if document.path is None or document.folder is None:
        raise Unreadable("there is no file to read it from")
    if re.search(r"\.(?:js|mjs|cjs|ts|py)(?::\w+)?$", name):
        raise Unreadable(f"`{name[:60]}` is a program, which is not run")
    return nearby.text_of(nearby.project_of(document.path), document.folder, name.removeprefix("file://"))


def _tests(suite: Suite, document: Document, root: Node) -> Iterator[Node]:
    for each in root.list_of("tests"):
        if each.kind == "map":
            yield each
            continue
        name = each.raw
        try:
            if not re.search(r"\.(?:ya?ml|json)$", name):
                raise Unreadable(f"`{name[:60]}` is neither YAML nor JSON")
            for found in yaml_tree.read(_file(document, name)):
                yield from (item for item in found.items or [found] if item.kind == "map")
        except Unreadable as problem:
            suite.note("lost", f"tests: {problem.reason}", document.shown, each.line)


def _variables(test: Node, default: Node | None) -> Iterator[dict[str, str]]:
    """Values by name; of lists, every combination, as promptfoo runs them."""
    pairs = {**(default.map_of("vars") if default is not None else {}), **test.map_of("vars")}
    choices = [[(key, item) for item in (node.items if node.kind == "list" else [node])] for key, node in pairs.items()]
    for chosen in itertools.islice(itertools.product(*choices), 1000):
        found: dict[str, str] = {}
        for key, node in chosen:
            found[key] = node.raw if node.kind not in ("map", "list") else json.dumps(node.plain(), ensure_ascii=False)
            if node.kind == "map":
                found.update({f"{key}.{inner}": value.raw for inner, value in node.pairs.items()})
        yield found


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables.get(found[1], found.group()), text)


def _task(
    suite: Suite,
    document: Document,
    test: Node,
    default: Node | None,
    prompt: str,
    line: int,
    variables: dict[str, str],
    direct: bool,
) -> None:
    wanted = [*(default.list_of("assert") if default is not None else ()), *test.list_of("assert")]
    title = test.text("description")
    call = _call(prompt) if direct else None
    if call is not None:
        requires = promptfoo_assertions.requires(suite, document, wanted, variables)
        calls.direct(suite, document.shown, call[0], call[1], requires, title=title)
        return
    task = suite.task(title, "" if title else " ".join(prompt.split()[:6]), document.shown, test.line)
    task.prompt = prompt
    if not prompt.strip():
        suite.drop(task, "it has no prompt")
        return
    if _VARIABLE.search(prompt):
        suite.note("look", "a variable of the prompt has no value; it stands as it is", document.shown, line, task.name)
    for each in wanted:
        promptfoo_assertions.add(suite, document, task, each, lambda text: _filled(text, variables))
    if not task.graded:
        graders.judge_alone(suite, task, test.line, "nothing that is asserted could be carried over")
    for key in test.pairs:
        if key not in ("vars", "assert", "description"):
            suite.note("lost", f"`{key}`", document.shown, test.line_of(key), task.name)


def _call(prompt: str) -> tuple[str, dict[str, object]] | None:
    try:
        data = json.loads(prompt)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("tool"), str):
        return None
    arguments = data.get("args", data.get("arguments", {}))
    return data["tool"], arguments if isinstance(arguments, dict) else {}
