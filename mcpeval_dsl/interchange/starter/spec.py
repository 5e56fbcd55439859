"""Interchange, starter: a catalogue becomes the text of a first spec and of the script that plays it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcpeval_dsl.interchange import words
from mcpeval_dsl.interchange.starter import samples
from mcpeval_dsl.interchange.starter.model import VARIABLE, Effect, Reached, Tool, quoted_name, shown, tools_of
from mcpeval_dsl.interchange.starter.pairs import Pair, pairs
from mcpeval_dsl.interchange.starter.sketches import Sketch, sketches
from mcpeval_dsl.plan.model import LockedServer

WIDTH = 100
ENVIRONMENT = "desk"
_SAID: dict[Effect, str] = {
    "readonly": "the server's hints say that these change nothing; a hint is a claim, so look at each",
    "additive": "they write, and say that they destroy nothing",
    "destructive": "they write, and do not say that they destroy nothing",
    "unknown": "no hints: destructive until you know better; move those that only read to `readonly`",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """Both texts, and what was found in the catalogue."""

    spec: str
    script: str
    tools: tuple[Tool, ...]
    pairs: tuple[Pair, ...]


def draft(reached: Reached, locked: LockedServer, *, sketched: bool = True) -> Draft:
    """The first spec for a server. Without `sketched`, only the task that needs no tool."""
    tools = tools_of(locked, reached.name)
    broken = tuple(f"{reached.name}.{quoted_name(t.name)}" for t in locked.tools if t.input_schema is None)
    found = pairs(tools)
    folder = next((to for _, to in reached.copies), "")
    made = [*sketches(tools if sketched else (), found if sketched else (), folder=bool(folder))]
    blocks = [
        _suite(reached, locked),
        _server(reached, locked),
        *_environment(reached),
        *_annotations(reached.name, tools, broken),
    ]
    blocks.append(
        ['model agent { script "scripts/agent.yaml" }  # plays the tasks without a key; then try a real one:']
    )
    blocks[-1].append('# model claude { anthropic "claude-sonnet-4-5" }')
    if not tools:
        blocks.append(
            [
                "# The server lists no tool that can be called. What it does offer is looked at by checks.",
                *_check(reached.name),
            ]
        )
    blocks += [sketch.lines for sketch in made]
    blocks.append(["gate { require safety.critical == 0 }"])
    text = "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"
    text = text.replace(samples.FOLDER, _word(f"{{{{ workdir }}}}/{folder}")[1:-1])
    return Draft(text, _script(reached.name, made), tools, found)


def _suite(reached: Reached, locked: LockedServer) -> list[str]:
    title = shown(locked.title or "", 60) or reached.name
    version = f" {shown(locked.version, 40)}" if locked.version else ""
    environment = f"environment {ENVIRONMENT}; " if reached.copies else ""
    about = (
        f"A first suite for {title}{version}, made from what the server says of its tools. Every task is a sketch: "
        "keep what is good, and put what your users ask in place of the rest."
    )
    return [
        *textwrap.wrap(about, 115, initial_indent="# ", subsequent_indent="# "),
        f"suite {reached.name} {words.quoted(title)} {{",
        "  trials 3",
        "  seed 1",
        f"  defaults {{ {environment}budget calls <= 6 hard 12, time <= 60s hard 180s }}",
        "}",
    ]


def _server(reached: Reached, locked: LockedServer) -> list[str]:
    lines = [f"server {reached.name} {{"]
    if reached.url:
        lines.append(f"  http {words.quoted(reached.url)}")
        lines += [f"  header {words.quoted(n)} = secret({words.quoted(v)})" for n, v in reached.headers]
    else:
        lines.append(f"  stdio {' '.join(_word(word) for word in reached.argv)}")
        lines += [f"  env {name} = secret({words.quoted(name)})" for name in reached.env]
        lines.append('  # network "api.example.com"  # hosts that it may reach; without this, none')
    if locked.version:
        lines.append(
            f"  # version {words.quoted(shown(locked.version, 40))}  # with it, results serve later runs until it changes"
        )
    return [*lines, "  timeout 30s", "}"]


def _word(word: str) -> str:
    """A word of the command; the trial's own folder is the one template that is meant as one."""
    if (variable := VARIABLE.fullmatch(word)) is not None:
        return f"secret({words.quoted(variable[1] or variable[2])})"
    if word.startswith("{{ workdir }}/"):
        return '"{{ workdir }}/' + words.quoted(word.removeprefix("{{ workdir }}/"))[1:]
    return words.quoted(word)


def _environment(reached: Reached) -> Iterator[list[str]]:
    if not reached.copies:
        return
    yield [
        f"environment {ENVIRONMENT} {{  # fresh for every trial",
        *(f"  copy {words.quoted(source)} to {_word(f'{{{{ workdir }}}}/{to}')}" for source, to in reached.copies),
        "}",
    ]


def _annotations(name: str, tools: Sequence[Tool], broken: Sequence[str]) -> Iterator[list[str]]:
    if not tools and not broken:
        return
    lines = [f"annotations {name} {{"]
    for effect, said in _SAID.items():
        patterns = [tool.pattern for tool in tools if tool.effect == effect]
        if patterns:
            lines.append(f"  # {said}")
            lines += _wrapped("destructive" if effect == "unknown" else effect, patterns)
    if broken:
        lines += ["  # their definitions are broken, so no agent is offered them", *_wrapped("destructive", broken)]
    yield [*lines, "}"]


def _wrapped(word: str, patterns: Sequence[str]) -> Iterator[str]:
    """Statements of at most one line each."""
    line = ""
    for pattern in patterns:
        if line and len(line) + len(pattern) + 2 > WIDTH:
            yield f"  {word} {line}"
            line = ""
        line = f"{line}, {pattern}" if line else pattern
    yield f"  {word} {line}"


def _check(name: str) -> list[str]:
    return [f"check {name} {{ schema valid }}"]


def _script(name: str, made: Sequence[Sketch]) -> str:
    import yaml

    tasks = {task: steps for sketch in made for task, steps in sketch.script.items()}
    head = "# What the scripted agent does in each task. Values come from the prompt and the results, so any data will do.\n"
    about = {"about": f"plays the sketches of {name} right", "tasks": tasks}
    return head + yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)
