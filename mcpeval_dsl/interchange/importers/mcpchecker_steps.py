"""Interchange: steps of a task of mcpchecker -> steps and graders of the language; scripts become files beside the spec."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path, PurePosixPath

from mcpeval_dsl.interchange import graders, nearby, words
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node

_TIMEOUT = re.compile(r"[1-9]\d{0,4}(?:ms|s|m|h)")
_INTERPRETERS = {"bash": "bash", "sh": "sh", "zsh": "zsh", "python3": "python3", "python": "python3", "node": "node"}


class Steps:
    """`body` is `spec` (lists of steps) or, in the older form, `steps` (one script for each phase)."""

    def __init__(self, suite: Suite, task: Task, path: Path | None, shown: str, body: Node) -> None:
        self.suite, self.task, self.path, self.shown, self.body = suite, task, path, shown, body
        self.files = 0
        self.commands = False
        self.kubectl = False
        self.extensions = {
            each.text("as") or each.text("extension"): each.text("extension") for each in body.list_of("requires")
        }

    def carry(self) -> None:
        setup = [line for step in self._steps("setup") for line in self._action(step)]
        verified = [line for step in self._steps("verify") for line in self._verdict(step)]
        cleanup = [line for step in self._steps("cleanup") for line in self._action(step)]
        if self.commands:
            setup.insert(0, f'copy "{self._folder}" to "{{{{ workdir }}}}/{self.task.name}"')
        if setup:
            self.task.add("setup", "{ " + "; ".join(setup) + " }")
        for line in verified:
            self.task.add("grade", line)
        if cleanup:
            self.task.add("teardown", "{ " + "; ".join(cleanup) + " }")
        self._environment()

    @property
    def _folder(self) -> str:
        return f"{self.suite.folder}/{self.task.name}"

    def _steps(self, phase: str) -> list[Node]:
        found = self.body.get(phase)
        if found is None:
            return []
        if found.kind == "list":
            return [step for step in found.items if step.kind == "map"]
        if found.kind != "map":
            return []
        if {"contains", "exact"} & set(found.pairs):
            return [Node("map", found.line, pairs={"llmJudge": found})]
        return [Node("map", found.line, pairs={"script": found})] if {"file", "inline"} & set(found.pairs) else [found]

    def _lost(self, what: str, line: int) -> list[str]:
        self.suite.note("lost", what, self.shown, line, self.task.name)
        return []

    def _action(self, step: Node) -> list[str]:
        kind, value = next(iter(step.pairs.items()), ("", step))
        if kind == "script":
            return self._script("run", value)
        extension, _, operation = kind.partition(".")
        if self.extensions.get(extension, extension) in ("kubernetes", "k8s") and operation in (
            "create",
            "apply",
            "delete",
            "wait",
        ):
            return [f"run {line}" for line in self._kubernetes(operation, value)]
        if kind == "mcp":
            return self._lost("a step that calls a tool: write it as `server.tool(…)` in `setup`", step.line)
        return self._lost(f"the step `{kind[:40]}` has no counterpart", step.line)

    def _verdict(self, step: Node) -> list[str]:
        kind, value = next(iter(step.pairs.items()), ("", step))
        if kind == "llmJudge":
            return self._judge(value)
        if kind == "script":
            return self._script("command", value)
        extension, _, operation = kind.partition(".")
        if self.extensions.get(extension, extension) in ("kubernetes", "k8s") and operation == "wait":
            return [f"command {line}" for line in self._kubernetes(operation, value)]
        return self._lost(f"verifying by `{kind[:40]}` has no counterpart", step.line)

    def _judge(self, value: Node) -> list[str]:
        contains, exact = value.text("contains"), value.text("exact")
        wanted = contains or exact
        if not wanted or re.search(r"\{steps\.", wanted):
            return self._lost(f"a judge about `{wanted[:60]}`, which only a step before it knows", value.line)
        claim = f"The answer says: {wanted}" if contains else f"The answer says this and nothing that differs: {wanted}"
        self.suite.judged = True
        return [graders.judge([claim])]

    def _script(self, word: str, value: Node) -> list[str]:
        name, text = value.text("file"), value.text("inline")
        if name:
            name = PurePosixPath(name).as_posix().removeprefix("./")
            text = self._copied(name) or ""
            if not text:
                return self._lost(f"the script `{name[:80]}` is not there", value.line)
        elif text.strip():
            self.files += 1
            name = f"step_{self.files}.{'py' if 'python' in text.split(chr(10), 1)[0] else 'sh'}"
            self.suite.files[f"{self._folder}/{name}"] = text.encode("utf-8", "replace") + b"\n"
        else:
            return self._lost("a step without a script", value.line)
        self.commands = True
        self.kubectl = self.kubectl or re.search(r"\b(?:kubectl|helm|oc|virtctl|istioctl)\b", text) is not None
        shebang = re.match(r"#!\s*\S*?/?(?:env\s+)?([\w.]+)\s*(?:\n|$)", text.replace("/usr/bin/env ", "/"))
        program = _INTERPRETERS.get((shebang[1] if shebang else "bash").rsplit("/", 1)[-1], "bash")
        command = f"cd '{{{{ workdir }}}}/{self.task.name}' && exec {program} {shlex.quote(name)}"
        timeout = value.text("timeout")
        block = f" {{ timeout {timeout} }}" if _TIMEOUT.fullmatch(timeout) else " { timeout 5m }"
        written = words.quoted(command).replace("{{ '{{' }} workdir }}", "{{ workdir }}")
        return [f'{word} "bash" "-c" {written}{block}']

    def _copied(self, name: str) -> str | None:
        """The script's text, after its whole folder was put beside the spec; None where it is not within the project."""
        if self.path is None or name.startswith("/"):
            return None
        root = nearby.project_of(self.path)
        found = nearby.inside(root, self.path.parent / name)
        if found is None or ".." in PurePosixPath(name).parts:
            return None
        if f"{self._folder}/{name}" not in self.suite.files:
            for relative, data in nearby.siblings(root, self.path.parent):
                if not relative.endswith(self.path.name):
                    self.suite.files[f"{self._folder}/{relative}"] = data
        script = self.suite.files.get(f"{self._folder}/{name}")
        text = script.decode("utf-8", "replace") if script is not None else None
        if text and (outside := re.search(r"\.\./[\w./-]+", text)):
            said = f"`{name}` speaks of `{outside.group()}`, which was not copied"
            self.suite.note("look", said, self.shown, self.task.line, self.task.name)
        return text

    def _kubernetes(self, operation: str, value: Node) -> list[str]:
        """What the extension does, by kubectl."""
        self.kubectl = True
        metadata = value.get("metadata") or Node("map", value.line)
        kind, name, space = value.text("kind"), metadata.text("name"), metadata.text("namespace")
        if operation in ("create", "apply"):
            self.files += 1
            file = f"manifest_{self.files}.json"
            plain = {key: node.plain() for key, node in value.pairs.items()}
            self.suite.files[f"{self._folder}/{file}"] = (
                json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
            ).encode()
            self.commands = True
            return [f'"kubectl" "{operation}" "-f" "{{{{ workdir }}}}/{self.task.name}/{file}"']
        where = f' "-n" {words.quoted(space)}' if space else ""
        what = f"{words.quoted(_resource(kind, value.text('apiVersion')))} {words.quoted(name)}"
        if not kind or not name:
            return self._lost(f"`{operation}` of nothing that has a name", value.line)
        if operation == "delete":
            ignore = ' "--ignore-not-found"' if value.flag("ignoreNotFound") else ""
            return [f'"kubectl" "delete" {what}{where}{ignore} {{ timeout 5m }}']
        timeout = value.text("timeout") if _TIMEOUT.fullmatch(value.text("timeout")) else "120s"
        wanted = words.quoted(f"--for=condition={value.text('condition') or 'Ready'}")
        return [f'"kubectl" "wait" {wanted} {what}{where} "--timeout={timeout}" {{ timeout {timeout} }}']

    def _environment(self) -> None:
        if not self.kubectl:
            return
        if "cluster" not in self.suite.environments:
            self.suite.environments["cluster"] = ['needs binary "kubectl"', 'env KUBECONFIG = secret("KUBECONFIG")']
            said = (
                "tasks of a cluster: `environment cluster` hands KUBECONFIG on; say with `network` where the cluster is"
            )
            self.suite.note("look", said, self.shown, self.task.line)
        self.task.add("environment", "cluster")


def _resource(kind: str, api: str) -> str:
    group, _, version = api.rpartition("/")
    return f"{kind}.{version}.{group}".lower() if group else kind.lower()
