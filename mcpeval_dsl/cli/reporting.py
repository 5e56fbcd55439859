"""Command line, shared by report and run: a run's scorecard in the form of others, written to where it was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.report.html.content import Content
    from mcpeval_dsl.score.scorecard import Scored

FORMS = {
    "text": "report.txt",
    "markdown": "report.md",
    "json": "scorecard.json",
    "junit": "junit.xml",
    "github": "summary.md",
    "html": "report.html",
}
"""Each form, and the name of its file in the run's folder."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One report. `file` empty: `github` goes where GitHub says, all others into the run's folder."""

    form: str
    file: str = ""


def wanted(words: list[str]) -> tuple[Wanted, ...]:
    """From `--report FORMAT` and `--report FORMAT=FILE`. Raises typer.BadParameter."""
    found = []
    for word in words:
        form, _, file = word.partition("=")
        check_form(form, "--report is FORMAT or FORMAT=FILE")
        found.append(Wanted(form, file))
    return tuple(found)


def check_form(form: str, what: str = "--format") -> None:
    """Raises typer.BadParameter for a form that is none."""
    if form not in FORMS:
        from mcpeval_dsl.diagnostics.suggestions import closest

        near = closest(form, list(FORMS))
        advice = f"did you mean `{near}`?" if near else f"one of {', '.join(FORMS)}"
        raise typer.BadParameter(f"{what}; there is no format `{form}`: {advice}")


def write(run: StoredRun, scored: Scored, reports: tuple[Wanted, ...], form: str = "text") -> None:
    """Each into its file, which standard error names. `form` is the command's: annotations keep out of JSON Lines.

    Raises OSError, DamagedRecord and StoreError.
    """
    for report in reports:
        if report.form == "github":
            github(run, scored, report.file, sys.stderr if form == "json" else sys.stdout)
            continue
        path = Path(report.file) if report.file else run.reader.folder.path / FORMS[report.form]
        save(path, made(run, scored, report.form), private=not report.file)
        print(f"{report.form} report: {path}", file=sys.stderr)


def save(path: Path, data: bytes, private: bool) -> None:
    """In the run's folder only its owner may read it; elsewhere the file is like any other. Raises OSError."""
    if private:
        from mcpeval_dsl.records.folder import write_whole

        write_whole(path, data)
    else:
        from mcpeval_dsl.project.writing import put

        put(path, data)


def made(run: StoredRun, scored: Scored, form: str) -> bytes:
    """The report in any form but `github`, which is two things. Raises DamagedRecord and StoreError."""
    return _MAKERS[form](run, scored)


def github(run: StoredRun, scored: Scored, file: str, stream: TextIO) -> None:
    """Annotations into the stream; the summary to the file, or to the step's own where GitHub gives one."""
    from mcpeval_dsl.report import github as form

    for command in form.commands(scored.scorecard, _in_repository(run.root)):
        print(command, file=stream)
    summary = form.summary(scored.scorecard, run.name)
    where = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if file:
        save(Path(file), summary, private=False)
    elif where:
        with Path(where).open("ab") as step:
            step.write(summary)
    else:
        print("no step summary: GITHUB_STEP_SUMMARY is not set, and no file is named", file=sys.stderr)


def _in_repository(root: Path) -> str:
    """The project's folder within what GitHub has checked out; empty where it is all of it."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    if not workspace or not root.is_relative_to(Path(workspace).resolve()):
        return ""
    folder = root.relative_to(Path(workspace).resolve()).as_posix()
    return "" if folder == "." else folder


def _text(run: StoredRun, scored: Scored) -> bytes:
    from mcpeval_dsl.cli.stored import texts
    from mcpeval_dsl.report.text import render

    times = (None, scored.overheads, scored.latencies)
    return _encoded(render(scored.scorecard, run.name, scored.timings, texts(run).get, False, *times))


def _markdown(run: StoredRun, scored: Scored) -> bytes:
    from mcpeval_dsl.report.markdown import render

    return _encoded(render(scored.scorecard, run.name, scored.latencies))


def _json(run: StoredRun, scored: Scored) -> bytes:
    from mcpeval_dsl.score.scorecard import to_bytes

    return to_bytes(scored.scorecard)


def _junit(run: StoredRun, scored: Scored) -> bytes:
    from mcpeval_dsl.report.junit import render
    from mcpeval_dsl.report.trials import lines

    return render(scored.scorecard, run.name, lines(run.reader.records()))


def _html(run: StoredRun, scored: Scored) -> bytes:
    from mcpeval_dsl.report.html.page import render

    return _encoded(render(content(run, scored), _text(run, scored).decode()))


def content(run: StoredRun, scored: Scored, live: bool = False) -> Content:
    """What the page shows. Raises DamagedRecord and StoreError."""
    from mcpeval_dsl.cli.stored import texts
    from mcpeval_dsl.records.folder import StoreError
    from mcpeval_dsl.report.html.content import About, gather

    try:
        manifest = run.reader.manifest()
    except StoreError:
        manifest = None  # it only says what the run was made with
    about = About(run.name, run.plan, manifest, texts(run).get, live)
    return gather(about, scored, run.reader.records())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_MAKERS: dict[str, Callable[[StoredRun, Scored], bytes]] = {
    "text": _text,
    "markdown": _markdown,
    "json": _json,
    "junit": _junit,
    "html": _html,
}
