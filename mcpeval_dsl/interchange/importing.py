"""Interchange, the whole of it: a foreign file -> a spec, files beside it, and a report. Starts nothing, connects nowhere.

bytes -> `reading` -> `document` -> an importer -> `model` -> `spec_text`, and then the compiler itself says whether it compiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.interchange import reading, servers, words
from mcpeval_dsl.interchange.document import Document, parse
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.interchange.trees.node import Unreadable
from mcpeval_dsl.source import Location

MODULES = (
    "mcp_builder",
    "mcpchecker",
    "mcpjam",
    "mcpvals",
    "arbiter",
    "lastmile",
    "mcp_server_tester",
    "glean",
    "mcp_evals",
    "promptfoo",
    "prompt_table",
)
"""In the order in which a file is tried; the most particular first."""
MOST_TASKS = 10_000


@dataclass(slots=True)
class Made:
    """`suite` None: nothing was made, `diagnostics` say why."""

    suite: Suite | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def formats() -> dict[str, Any]:
    """Importers by the name of their format."""
    modules = [import_module(f"mcpeval_dsl.interchange.importers.{name}") for name in MODULES]
    return {module.NAME: module for module in modules}


def import_file(path: Path, shown: str, wanted: str = "", told: Sequence[str] = (), stem: str = "") -> Made:
    """One foreign file as a suite. `wanted` is the name of a format, `told` are servers that the command was given.

    `stem` is the name of the spec without its ending; files that it needs go to a folder of that name.
    """
    made = Made()
    try:
        if _is_folder(path):
            return _folder(path, shown, told, stem)
        text = reading.read(path, shown)
        document = parse(path, shown, text.text)
        importer = _importer(document, wanted)
        if importer is None:
            made.diagnostics.append(_unknown(shown))
            return made
        suite = Suite(importer.TITLE)
        suite.folder = f"{stem or words.slug(Path(shown).name.split('.')[0], 'imported')}_files"
        for said in text.said:
            suite.note("changed", said, shown, 1)
        _doubles(suite, document)
        servers.given(suite, told)
        importer.load(document, suite)
    except Unreadable as problem:
        made.diagnostics.append(_unreadable(shown, problem))
        return made
    if not suite.tasks and not suite.checks:
        made.diagnostics.append(_nothing(shown, suite))
        return made
    _cut(suite, shown)
    finish(suite, shown)
    made.suite = suite
    return made


def _is_folder(path: Path) -> bool:
    """False also for what cannot be a file's name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _folder(path: Path, shown: str, told: Sequence[str], stem: str) -> Made:
    """A folder of tasks of mcpchecker, the one format that has a file for each."""
    from mcpeval_dsl.interchange.importers import mcpchecker

    made = Made()
    suite = Suite(mcpchecker.TITLE)
    suite.folder = f"{stem or words.slug(path.name, 'imported')}_files"
    servers.given(suite, told)
    mcpchecker.load_folder(path, shown, suite)
    if not suite.tasks:
        made.diagnostics.append(_unreadable(shown, Unreadable("it is a folder without a task of mcpchecker")))
        return made
    _cut(suite, shown)
    finish(suite, shown)
    made.suite = suite
    return made


def _cut(suite: Suite, shown: str) -> None:
    if len(suite.tasks) > MOST_TASKS:
        suite.note(
            "lost",
            f"tasks behind the first {MOST_TASKS:,}",
            suite.tasks[MOST_TASKS].path or shown,
            suite.tasks[MOST_TASKS].line,
        )
        del suite.tasks[MOST_TASKS:]


def finish(suite: Suite, shown: str) -> None:
    """What every suite needs, whatever it came from: a name, a server, a model."""
    stem = Path(shown).name.split(".")[0]
    suite.name = suite.names.new(words.slug(suite.name or suite.title or stem, "imported"), "suite")
    suite.title = words.clean(" ".join(suite.title.split()))[0][:120]
    if not suite.servers:
        servers.placeholder(suite, shown)
    _credentials(suite, shown)
    if any(server.argv and not server.placeholder for server in suite.servers):
        said = 'a server gets no network: write `network "host"` into its block where it needs some'
        suite.note("look", said, shown, 1)
    if not suite.models:
        suite.note("look", "no model is named: `model agent` is an example", shown, 1)
    if suite.judged and not suite.judge:
        suite.note(
            "look",
            "no judge is named: `judge referee` is an example, and answers with verdicts to measure it by",
            shown,
            1,
        )
    if any(task.has("may") for task in suite.tasks) or not suite.annotations:
        said = "a call is denied unless hints or `annotations` call it read-only or `may` permits it; the source permitted all"
        suite.note("look", said, shown, 1)


def _credentials(suite: Suite, shown: str) -> None:
    """What looks like a credential in a prompt or a file is part of the task, and somebody has to see it."""
    redactor = Redactor()
    for task in suite.tasks:
        said = [task.prompt, task.system, *(turn.user for turn in task.turns), *(each.text for each in task.statements)]
        for name in redactor.text("\n".join(said))[1][:1]:
            suite.note(
                "look", f"what looks like a credential ({name}) stands in the task", task.path, task.line, task.name
            )
    for name, data in suite.files.items():
        if redactor.text(data.decode("utf-8", "replace"))[1]:
            suite.note("look", f"what looks like a credential stands in `{name}`", shown, 1)


def _importer(document: Document, wanted: str) -> Any:
    if wanted:
        return formats()[wanted]
    for name in MODULES:
        module = import_module(f"mcpeval_dsl.interchange.importers.{name}")
        if module.is_this(document):
            return module
    return None


def _doubles(suite: Suite, document: Document) -> None:
    for root in document.roots:
        for node in root.walk():
            for key, line in node.twice:
                suite.note("changed", f"`{key[:40]}` stands twice; the last one counts", document.shown, line)


def _unreadable(shown: str, problem: Unreadable) -> Diagnostic:
    place = Location(shown, problem.line, 1, problem.line, 1)
    return Diagnostic(
        "MCPE600",
        f"`{shown}` cannot be imported: {problem.reason}",
        place if problem.line > 1 else None,
        body="A file is read whole, as what its text is: XML, JSON, YAML, CSV or Markdown.",
        hint="correct the file, or name another",
    )


def _unknown(shown: str) -> Diagnostic:
    names = ", ".join(formats())
    return Diagnostic(
        "MCPE601",
        f"`{shown}` is in no format that is known",
        body=f"The formats are {names}.",
        hint="say which it is with `--from FORMAT`",
    )


def _nothing(shown: str, suite: Suite) -> Diagnostic:
    lost = [note for note in suite.notes if note.what == "lost"]
    body = f"Read as {suite.format}." + (f" {lost[0].text} (line {lost[0].line})." if lost else "")
    return Diagnostic(
        "MCPE602", f"`{shown}` holds no task", body=body, hint="is it another format? say so with `--from`"
    )
