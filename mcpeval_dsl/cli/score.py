"""Command line: `mcpe score`, grades and scores a run again from its records, without running anything of it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Grade and score a run again, without running it. Without a name: the latest run.

Graders that start something or cost something (judge, command, python) are asked again only where their verdict is
missing, unless --again is given; they need trust, as a run does. --no-grade only reads. A trial whose grading is complete and of
this very version of mcpe is left as it is, unless --again is given.
With --spec the run takes over the graders and the gate that the spec has now; whatever else it says must be as it was.

Example: mcpe score --spec specs/tracker.mcpe
"""


def command(
    run: Annotated[str, typer.Argument(help="Name of a run, the start of one, or its folder.")] = "",
    again: bool = typer.Option(
        False, "--again", help="Grade every trial again; ask judges, commands and functions too."
    ),
    grade: bool = typer.Option(True, "--grade/--no-grade", help="Grade again before scoring."),
    spec: str = typer.Option("", "--spec", help="Grade by what this spec says now."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import scoring, stored

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    found = stored.find_run(run or None, any_plan=bool(spec))
    if found is None:
        raise typer.Exit(exits.SPEC)
    before = None
    if spec:
        from mcpeval_dsl.cli.adopting import adopt

        before = None if again else found.plan
        found = adopt(found, spec)
        if found is None:
            raise typer.Exit(exits.SPEC)
        again = grade = True
    if grade:
        from mcpeval_dsl.cli.regrading import regrade

        code = regrade(found, again, tuple(trust_file or ()), before)
        if code is not None:
            raise typer.Exit(code)
    code = scoring.show_scored(found, stored.texts(found), form)
    sys.stdout.flush()
    raise typer.Exit(code)
