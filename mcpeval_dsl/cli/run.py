"""Command line: `mcpe run`, a plan carried out, or an interrupted run continued; then its scorecard and exit code."""

from __future__ import annotations

import math
import sys
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Run a plan, or continue it. Without arguments: .mcpe/plan.json, which `mcpe compile` writes.

The same command again continues an interrupted run and measures nothing twice; --fresh starts over.

Example: mcpe compile specs/tracker.mcpe && mcpe run
"""


def command(
    target: Annotated[list[str] | None, typer.Argument(help="A plan, or specs to compile and run at once.")] = None,
    select: Annotated[
        list[str] | None, typer.Option("--select", "-s", help="As in `mcpe compile` (specs only).")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="As in `mcpe compile` (specs only).")] = None,
    heldout: bool = typer.Option(False, "--heldout", help="Take held-out tasks in as well (specs only)."),
    fresh: bool = typer.Option(False, "--fresh", help="Start a new run, whatever was measured before."),
    name: str = typer.Option(
        "", "--name", help="Call the run so, to compare later ones with it; continues one of that name."
    ),
    jobs: int = typer.Option(0, "--jobs", "-j", min=0, help="Trials in flight; 0 is twice the cores."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    allow_writes: bool = typer.Option(False, "--allow-writes", help="Let permitted writes through to shared servers."),
    update_lock: bool = typer.Option(
        False, "--update-lock", help="Go on where a server's tools differ from mcpe.lock."
    ),
    keep: bool = typer.Option(False, "--keep", help="Keep the folders of the trials."),
    max_cost: Annotated[
        str | None,
        typer.Option(
            "--max-cost", help="Dollars; after so many no further trial of a run begins. What it cost before counts."
        ),
    ] = None,
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report", help="Write FORMAT or FORMAT=FILE as well: html, markdown, junit, github, json, text."
        ),
    ] = None,
) -> None:
    from mcpeval_dsl.cli import reporting, running

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    reports = reporting.wanted(report or [])
    chosen = running.choose(target or [], select or [], exclude or [], heldout, form)
    if chosen is None:
        raise typer.Exit(exits.SPEC)
    named = [each for each in reports if each.file]
    if named and len(chosen.plans) > 1:
        raise typer.BadParameter(f"{named[0].file} is one file for {len(chosen.plans)} suites; name the format alone")
    if name and len(chosen.plans) > 1:
        raise typer.BadParameter(f"`{name}` is the name of one run, not of {len(chosen.plans)}")
    if name and not running.is_name(name):
        raise typer.BadParameter(f"a run is named with letters, digits, `.`, `_` and `-`, not `{name}`")
    options = running.Options(
        fresh=fresh,
        name=name,
        jobs=jobs or None,
        trust_files=tuple(trust_file or ()),
        allow_writes=allow_writes,
        update_lock=update_lock,
        keep=keep,
        max_cost=_dollars(max_cost),
        form=form,
        reports=reports,
    )
    codes = []
    for plan in chosen.plans:
        codes.append(running.run_one(plan, chosen, options))
        if codes[-1] in (exits.INTERRUPTED, exits.DISK):
            break
    sys.stdout.flush()
    raise typer.Exit(exits.worst(*codes))


def _dollars(text: str | None) -> float | None:
    """`5`, `$5` or `0.50`. Empty is no amount: a limit from a variable that is not set would be none."""
    if text is None:
        return None
    try:
        value = float(text.removeprefix("$"))
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"--max-cost is an amount in dollars, such as 5 or 0.50, not `{text}`")
    return value
