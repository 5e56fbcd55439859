"""Interchange, last step: a suite as the text of a spec."""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.interchange import words
from mcpeval_dsl.interchange.model import Server, Suite, Task, Turn

AGENT = 'anthropic "claude-sonnet-4-5"'


def write(suite: Suite, source: str) -> str:
    """The whole text; it ends with a line break."""
    blocks = [list(_head(suite, source))]
    blocks += [list(_server(server)) for server in suite.servers]
    blocks += [
        [f"environment {name} {{", *(f"  {line}" for line in lines), "}"] for name, lines in suite.environments.items()
    ]
    blocks += [list(_annotations(name, classes)) for name, classes in suite.annotations.items()]
    blocks.append(list(_models(suite)))
    blocks += [harvest.lines for harvest in suite.harvests]
    blocks += [list(_task(task)) for task in suite.tasks]
    blocks += list(_checks(suite))
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _one_line(text: str) -> str:
    """What stands in a comment cannot leave it."""
    return " ".join(words.clean(text)[0].split())


def _head(suite: Suite, source: str) -> Iterator[str]:
    yield f"# Imported from {_one_line(source)} ({suite.format}). What was changed or lost: the report beside this file."
    title = f" {words.quoted(suite.title)}" if suite.title else ""
    yield f"suite {suite.name}{title} {{"
    yield f"  trials {min(max(suite.trials or 1, 1), 1000)}"
    if suite.judged:
        yield "  judge  referee"
    yield "}"
    if suite.secrets:
        yield ""
        yield from (f"let {name} = secret({words.quoted(secret)})" for secret, name in suite.secrets.items())


def _server(server: Server) -> Iterator[str]:
    for comment in server.comments:
        yield f"# {_one_line(comment)}"
    yield f"server {server.name} {{"
    if server.url:
        yield f"  http {server.url}"
    else:
        yield f"  stdio {' '.join(server.argv)}"
    for name, value in server.headers.items():
        yield f"  header {name if words.is_name(name) else words.quoted(name)} = {value}"
    for name, value in server.env.items():
        yield f"  env {name} = {value}"
    yield "  trust hints"
    yield "}"


def _annotations(server: str, classes: dict[str, list[str]]) -> Iterator[str]:
    yield "# told by the tools' names alone: correct what is wrong before the first run"
    yield f"annotations {server} {{"
    for effect in ("readonly", "additive", "destructive"):
        if classes.get(effect):
            yield f"  {effect} {', '.join(name if words.is_name(name) else words.quoted(name) for name in classes[effect])}"
    yield "}"


def _models(suite: Suite) -> Iterator[str]:
    drivers = list(dict.fromkeys(suite.models)) or [AGENT]
    names = ["agent"] if len(drivers) == 1 else [f"agent_{number}" for number in range(1, len(drivers) + 1)]
    for name, driver in zip(names, drivers, strict=True):
        yield f"model {name} {{ {driver} }}"
    if suite.judged:
        yield f"judge referee {{ {suite.judge or AGENT} }}"
    yield f"matrix {{ model = [{', '.join(names)}] }}"


def _task(task: Task) -> Iterator[str]:
    if task.placeholder:
        yield f"let {task.answer_name} = {words.quoted(task.placeholder)}"
    title = f" {words.quoted(task.title)}" if task.title else ""
    yield f"task {task.name}{title} {{"
    yield from (f"  # {_one_line(comment)}" for comment in task.comments)
    if task.system:
        yield f"  system {words.block(task.system, 2)}"
    if not task.turns:
        yield f"  prompt {words.block(task.prompt, 2)}"
    for statement in sorted(task.statements, key=lambda each: each.rank):
        yield f"  {statement.text}"
    if task.turns:
        yield "  dialogue {"
        for turn in task.turns:
            yield from _turn(turn)
        yield "  }"
    yield "}"


def _turn(turn: Turn) -> Iterator[str]:
    yield "    turn {"
    yield f"      user {words.block(turn.user, 6)}"
    yield from (f"      {line}" for line in dict.fromkeys(turn.statements))
    yield "    }"


def _checks(suite: Suite) -> Iterator[list[str]]:
    by_server: dict[str, list[str]] = {}
    for check in suite.checks:
        by_server.setdefault(check.server, []).extend(f"  {line}" for line in check.lines)
    for server, lines in by_server.items():
        yield [f"check {server} {{", *dict.fromkeys(lines), "}"]
