"""Command line: `mcpe defects`, suspicions that a server is wrong, once each; with --confirm they are replayed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.score.model import LeadRow

HELP = """List the leads of a run: errors that speak against the server, each once, with the calls that show it.

Starts nothing. With --confirm each lead is replayed in fresh environments: failing 3 of 3 and then 10 of 10 times makes it
a defect, written as a check that fails as long as the defect is there. Exit code 1 for a confirmed defect, 3 for a lead
that could not be replayed.

Example: mcpe defects --confirm && mcpe check .mcpe/runs/RUN/defects
"""


def command(
    run: Annotated[str, typer.Argument(help="A run; the latest without it.")] = "",
    confirm: bool = typer.Option(False, "--confirm", help="Replay each lead in fresh environments."),
    only: Annotated[list[str] | None, typer.Option("--only", help="Leads to replay: ids, or parts of them.")] = None,
    output: str = typer.Option("", "--output", "-o", help="Folder of the checks, instead of the run's own."),
    window: float = typer.Option(5.0, "--window", min=0, help="Seconds after which a new thing must be there."),
    jobs: int = typer.Option(0, "--jobs", "-j", min=0, help="Attempts at once; 0 is twice the cores."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    allow_writes: bool = typer.Option(False, "--allow-writes", help="Replay writes to shared servers too."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import stored

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    found = stored.find_run(run or None)
    if found is None:
        raise typer.Exit(exits.SPEC)
    code = exits.CLEAN
    if confirm:
        from mcpeval_dsl.cli import confirming

        options = confirming.Options(
            only=tuple(only or ()),
            output=output,
            window=window,
            jobs=jobs or None,
            trust_files=tuple(trust_file or ()),
            allow_writes=allow_writes,
        )
        code = confirming.confirm(found, options)
        if code in (exits.SPEC, exits.DISK):
            raise typer.Exit(code)
    rows = _rows(found)
    sys.stdout.write(_json(rows, found.name) if form == "json" else _text(rows, found.name))
    sys.stdout.flush()
    raise typer.Exit(code)


def _rows(run: StoredRun) -> Sequence[LeadRow]:
    from mcpeval_dsl.cli import scoring

    return scoring.score(run).scorecard.leads


def _json(rows: Sequence[LeadRow], run: str) -> str:
    from mcpeval_dsl.cli.versions import first_line

    lines = [first_line("defects")]
    lines += [
        json.dumps({"type": "lead", "run": run, **row.model_dump(mode="json")}, ensure_ascii=False) for row in rows
    ]
    return "\n".join(lines) + "\n"


def _text(rows: Sequence[LeadRow], run: str) -> str:
    from mcpeval_dsl.diagnostics.render.text import wants_colour
    from mcpeval_dsl.report.page import Page
    from mcpeval_dsl.report.text import leads

    lines = leads(Page(run, wants_colour(sys.stdout)), rows, every=True)
    if any(row.status in ("", "unconfirmed") for row in rows):
        lines.append("  replay them with `mcpe defects --confirm`")
    return "\n".join(lines) + "\n"
