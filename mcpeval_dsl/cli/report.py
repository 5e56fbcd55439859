"""Command line: `mcpe report`, the scorecard of a run for a person, a pull request, a CI system, or as one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Write the scorecard of a run in another form. Without a name: the latest run.

html is one file with everything, transcripts too, that needs no network; it is written into the run's folder unless -o
says where. github writes annotations, and a summary where GitHub Actions asks for one. Nothing is run or graded.

Example: mcpe report --format html -o report.html
"""


def command(
    run: Annotated[str, typer.Argument(help="Name of a run, the start of one, or its folder.")] = "",
    form: str = typer.Option("text", "--format", help="text, markdown, json, junit, github or html."),
    output: str = typer.Option("", "--output", "-o", help="File to write; - is standard output."),
) -> None:
    from mcpeval_dsl.cli import reporting, scoring, stored
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.records.codec import DamagedRecord

    reporting.check_form(form)
    found = stored.find_run(run or None)
    if found is None:
        raise typer.Exit(exits.SPEC)
    try:
        scored = scoring.score(found)
        if form == "github":
            reporting.github(found, scored, "" if output == "-" else output, sys.stdout)
        elif output == "-" or (not output and form != "html"):
            # As text: what goes past the stream goes past what keeps a terminal from obeying it.
            sys.stdout.write(reporting.made(found, scored, form).decode("utf-8"))
            sys.stdout.flush()
        elif output:
            reporting.save(Path(output), reporting.made(found, scored, form), private=False)
        else:
            reporting.write(found, scored, (reporting.Wanted(form),))
    except DamagedRecord as error:
        show([stored.damaged(str(error))], {}, stream=sys.stderr)
        raise typer.Exit(exits.DISK) from None
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise typer.BadParameter(f"cannot write {error.filename}: {error.strerror}") from None
