"""Command line: `mcpe init`, a first suite for a server, made from its own catalogue; or an example that runs as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.reaching import Start
    from mcpeval_dsl.interchange.starter.spec import Draft
    from mcpeval_dsl.plan.model import LockedServer

HELP = """Write a first suite: for a server, from its own tools; without --server, an example that runs as it is.

With --server the server is started once (or connected to), after trust, and asked for its tools. Written are a spec with
annotations, harvests and tasks to begin with, a script that plays them without a key, mcpe.lock, and what the project lacks of
mcpe.toml, .gitignore and a workflow for GitHub. Nothing is overwritten, and nothing is left half-written.

Example: mcpe init --server "node build/index.js" --name tracker
"""


def command(
    folder: Annotated[str, typer.Argument(help="The project's folder; it need not be there yet.")] = ".",
    server: Annotated[str, typer.Option("--server", help="The command that starts the server, or its URL.")] = "",
    name: Annotated[str, typer.Option("--name", help="The server's name in the spec.")] = "",
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="A variable of yours that the server needs; its value is not written."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", help="HEADER=VARIABLE: a header of each request, from a variable of yours."),
    ] = None,
    trust_file: Annotated[str, typer.Option("--trust-file", help="A file of trusted command lines.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Trust the command line of --server without asking.")] = False,
    form: Annotated[str, typer.Option("--format", help="text or json (JSON Lines).")] = "text",
) -> None:
    from mcpeval_dsl.cli import reaching, starting
    from mcpeval_dsl.cli.findings import show

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    try:
        start = reaching.begin(Path(folder), server, name, env or (), header or ())
    except reaching.Wrong as wrong:
        show([wrong.diagnostic], {}, stream=sys.stderr)
        raise typer.Exit(exits.SPEC) from None
    if not server:
        _settle(start, starting.example(start), None, None, form)
        return
    asked = starting.ask(start, trust_file, yes)
    if asked.locked is None:
        show(asked.diagnostics, {}, stream=sys.stderr)
        raise typer.Exit(asked.code)
    draft = starting.draft(start, asked.locked)
    _settle(start, starting.files(start, asked.locked, draft), asked.locked, draft, form)


def _settle(start: Start, files: dict[str, bytes], locked: LockedServer | None, draft: Draft | None, form: str) -> None:
    """Writes all files, or none, and says what was written and what comes next."""
    from shlex import quote

    from mcpeval_dsl.cli import starting
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.versions import first_line

    problem = starting.write(start, files)
    if problem is not None:
        show([problem], {}, stream=sys.stderr)
        raise typer.Exit(exits.SPEC if problem.code == "MCPE690" else exits.DISK)
    if form == "json":
        print(first_line("init"))
        found = {} if draft is None or locked is None else _found(draft)
        print(json.dumps({"type": "init", "written": sorted(files), "spec": start.spec, **found}, ensure_ascii=False))
        return
    if locked is not None and draft is not None:
        _tell(locked, draft)
    for path in sorted(files):
        print(f"wrote {path}")
    there = "" if start.root == Path.cwd() else f"cd {quote(_from_here(start.root))} && "
    trust = "" if locked is not None else f"mcpe trust {start.spec} && "
    print(f"next: {there}{trust}mcpe compile && mcpe run     (a scripted agent plays the tasks; no key is needed)")


def _from_here(root: Path) -> str:
    return root.relative_to(Path.cwd()).as_posix() if root.is_relative_to(Path.cwd()) else str(root)


def _found(draft: Draft) -> dict[str, object]:
    counts = {effect: sum(tool.effect == effect for tool in draft.tools) for effect in _EFFECTS}
    pairs = [
        {"list": p.listing.name, "get": p.getting.name, "argument": p.argument, "path": p.key.path} for p in draft.pairs
    ]
    return {"tools": counts, "pairs": pairs}


_EFFECTS = {
    "readonly": "read-only",
    "additive": "additive",
    "destructive": "destructive",
    "unknown": "without hints, listed as destructive",
}


def _tell(locked: LockedServer, draft: Draft) -> None:
    from mcpeval_dsl.diagnostics.render.safe import visible

    version = f" {locked.version}" if locked.version else ""
    said = visible(f"{locked.title or 'no name'}{version}")
    tools = "1 tool" if len(locked.tools) == 1 else f"{len(locked.tools)} tools"
    print(f"{locked.server}: {said}, {tools}, revision {locked.revision}")
    counts = [(sum(t.effect == e for t in draft.tools), noun) for e, noun in _EFFECTS.items()]
    if draft.tools:
        print("  hints    " + ", ".join(f"{count} {noun}" for count, noun in counts if count))
    for pair in draft.pairs:
        print(
            visible(
                f"  harvest  {pair.listing.name} gives {pair.key.path}, which {pair.getting.name} takes as {pair.argument}"
            )
        )
    for finding in locked.findings:
        print(f"  finding  {visible(finding)}")
