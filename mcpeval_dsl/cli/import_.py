"""Command line: `mcpe import`, evaluations of other tools and recorded sessions as specs. Starts nothing, reaches nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.interchange.importing import Made
    from mcpeval_dsl.interchange.model import Suite

HELP = """Make specs of evaluations that other tools run, or of recorded sessions; says what was kept, changed and lost.

The format is found by what the file says. Each file gives a spec that compiles, what it needs beside it, and a report.

Example: mcpe import evaluation.xml --server "python -m my_server"
"""
FORMATS = (
    "mcp-builder, mcpchecker, mcpjam, mcpvals, arbiter, lastmile, mcp-server-tester, mcp-server-tester-dataset, "
    "mcp-evals, promptfoo or prompt-table"
)


def command(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE…", help="Files of other tools.")] = None,
    form_of_source: str = typer.Option("", "--from", help=f"Their format, where it is not found by itself: {FORMATS}."),
    output: str = typer.Option("", "--output", "-o", help="Folder to write to; the project's `specs` without it."),
    server: Annotated[
        list[str] | None, typer.Option("--server", help="A command line, a URL, or a file with `mcpServers`.")
    ] = None,
    transcript: Annotated[
        list[str] | None,
        typer.Option("--transcript", help="A session of Claude Code or Codex, or RUN:TRIAL of this project."),
    ] = None,
    force: bool = typer.Option(False, "--force", help="Write over what is there."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    if not files and not transcript:
        raise typer.BadParameter("say which files to import, or which session with --transcript")
    _known(form_of_source)
    if form == "json":
        from mcpeval_dsl.cli.versions import first_line

        print(first_line("import"))
    folder = Path(output) if output else _specs()
    server = [_from(folder, each) for each in server or []]
    failed = False
    specs: list[str] = []
    taken: set[str] = set()
    for source, recorded in [*((each, False) for each in files or []), *((each, True) for each in transcript or [])]:
        name = _name(source, taken)
        made = _session(source, server) if recorded else _file(source, form_of_source, server, name)
        suite, problems = made.suite, made.diagnostics
        if suite is not None:
            problems += _written(suite, source, folder, name, force, form)
            specs += [] if problems else [os.path.relpath(folder / f"{name}.mcpe")]
        failed = failed or bool(problems)
        _show(problems, form)
    if specs and form == "text":
        print(_next(specs[0] if len(specs) == 1 else os.path.relpath(folder)))
    raise typer.Exit(exits.SPEC if failed else exits.CLEAN)


def _next(what: str) -> str:
    from shlex import quote

    shown = quote(what)
    return f"next: what stands under LOOK AT, then mcpe trust {shown} && mcpe lock {shown} && mcpe run {shown}"


def _known(name: str) -> None:
    from mcpeval_dsl.diagnostics.suggestions import closest

    if not name:
        return
    from mcpeval_dsl.interchange.importing import formats

    known = list(formats())
    if name not in known:
        near = closest(name, known)
        advice = f"did you mean `{near}`?" if near else f"they are {', '.join(known)}"
        raise typer.BadParameter(f"there is no format `{name}`: {advice}")


def _specs() -> Path:
    from mcpeval_dsl.project.files import find

    project = find(Path.cwd()).value
    if project is None:
        return Path("specs")
    first = next((name for name in project.specs if not name.endswith(".mcpe")), "specs")
    if not (project.root / first).resolve().is_relative_to(project.root.resolve()):
        raise typer.BadParameter(f"`{first}` lies outside the project: say with -o which folder to write to")
    return Path(os.path.relpath(project.root / first))


def _from(folder: Path, server: str) -> str:
    """A command line as it holds in `folder`: files that are there now are named by their path from the spec."""
    import shlex

    try:
        argv = shlex.split(server)
    except ValueError:
        return server  # whose quotes are not closed is said when it is read
    if server.startswith(("http://", "https://")) or (len(argv) < 2 and "/" not in server) or _settings(server):
        return server
    return shlex.join(_placed(folder, word) if number or "/" in word else word for number, word in enumerate(argv))


def _settings(server: str) -> bool:
    """Whether it is a file with `mcpServers`."""
    return " " not in server and Path(server).suffix in (".json", ".yaml", ".yml")


def _placed(folder: Path, word: str) -> str:
    path = Path(word)
    if word.startswith("-") or path.is_absolute() or not path.exists():
        return word
    return Path(os.path.relpath(path, folder)).as_posix() if path.is_file() else str(path.absolute())


def _name(source: str, taken: set[str]) -> str:
    """The name of the spec: that of the source, or with a number where another source of this command has it."""
    from mcpeval_dsl.interchange import words

    stem = words.slug(Path(source).name.split(".")[0], "imported")
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name


def _session(source: str, servers: list[str]) -> Made:
    from mcpeval_dsl.interchange.sessions import import_session

    return import_session(source, servers, Path.cwd())


def _file(source: str, wanted: str, servers: list[str], name: str) -> Made:
    from mcpeval_dsl.interchange.importing import import_file

    return import_file(Path(source), _shown(source), wanted, servers, name)


def _shown(source: str) -> str:
    path = Path(source)
    relative = os.path.relpath(path)
    return Path(relative if not relative.startswith("..") else source).as_posix()


def _written(suite: Suite, source: str, folder: Path, name: str, force: bool, form: str) -> list[Diagnostic]:
    """Writes the spec and what belongs to it, and shows the report."""
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.interchange import report
    from mcpeval_dsl.interchange.compiled import compile_suite
    from mcpeval_dsl.project import writing

    shown = _shown(source) if Path(source).exists() else source
    made = compile_suite(suite, shown)
    if made.errors:
        return made.errors
    target = os.path.relpath(folder / f"{name}.mcpe")
    lines = report.render(suite, shown, Path(target).as_posix()).split("\n")
    text = "\n".join(map(visible, lines))
    files = {f"{name}.mcpe": made.text.encode(), f"{name}.import.txt": text.encode(), **suite.files}
    standing = [] if force else writing.standing(folder, files)
    if standing:
        return [_taken(folder, standing)]
    try:
        writing.put_all(folder, files)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError, FileExistsError) as error:
        raise typer.BadParameter(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    if form == "json":
        print("\n".join(report.json_lines(suite, shown, Path(target).as_posix())))
    else:
        print(text)
    return []


def _taken(folder: Path, standing: list[str]) -> Diagnostic:
    from mcpeval_dsl.diagnostics.model import Diagnostic

    more = f" and {len(standing) - 1} more" if len(standing) > 1 else ""
    return Diagnostic(
        "MCPE603",
        f"`{os.path.relpath(folder / standing[0])}`{more} {'are' if more else 'is'} there already",
        body="An import writes over nothing. Nothing was written.",
        hint="write elsewhere with `-o FOLDER`, or over it with `--force`",
    )


def _show(problems: list[Diagnostic], form: str) -> None:
    if not problems:
        return
    if form == "json":
        from mcpeval_dsl.diagnostics.render.json_lines import as_object

        print("\n".join(json.dumps(as_object(problem)) for problem in problems))
        return
    from mcpeval_dsl.cli.findings import show

    show(problems, {}, stream=sys.stderr)
