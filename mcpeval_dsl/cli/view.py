"""Command line: `mcpe view`, the trials of a run, one trial as a person reads it, or the page of the run in a browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.records.model import TrialRecord

HELP = """Show one trial: what it was told, its turns and calls, permissions, answer and verdicts. Without a trial: all trials.

The run may be left out; the latest is meant then. --serve shows the run as a page, at an address of this machine that it
prints; the page follows a run that goes on.

Example: mcpe view label_it@canned#1
"""


def command(
    run: Annotated[str, typer.Argument(help="A run; or a trial of the latest run, `task@cell#number`.")] = "",
    trial: Annotated[str, typer.Argument(help="A trial, as the scorecard names it.")] = "",
    full: bool = typer.Option(False, "--full", help="Show results and prompts in full."),
    form: str = typer.Option("text", "--format", help="text or json (the record)."),
    serve: bool = typer.Option(False, "--serve", help="Serve the page of the run on loopback until Ctrl-C."),
) -> None:
    from mcpeval_dsl.cli import stored
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.report import transcript

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    if not trial and "#" in run:
        run, trial = "", run
    found = stored.find_run(run or None)
    if found is None:
        raise typer.Exit(exits.SPEC)
    if serve:
        from mcpeval_dsl.cli.serving import serve as serving

        if trial:
            raise typer.BadParameter("--serve shows the whole run; leave the trial out, or leave --serve out")
        serving(found)
        return
    try:
        if trial:
            _one(found, trial, full, form)
        else:
            for record in found.reader.records():
                print(record.model_dump_json() if form == "json" else transcript.line(record))
    except DamagedRecord as error:
        show([stored.damaged(str(error))], {}, stream=sys.stderr)
        raise typer.Exit(exits.DISK) from None


def find_trial(run: StoredRun, trial: str) -> TrialRecord:
    """A trial of the run by its id. Ends the command, after saying so, where there is none."""
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.diagnostics.suggestions import closest

    record = run.reader.record(trial)
    if record is not None:
        return record
    near = closest(trial, list(run.reader.planned()))
    hint = f"did you mean `{near}`?" if near else f"list its trials with `mcpe view {run.name}`"
    body = "A trial is named `task@cell#number`, as the scorecard prints it."
    wrong = Diagnostic("MCPE544", f"run `{run.name}` has no trial `{trial}`", body=body, hint=hint)
    show([wrong], {}, stream=sys.stderr)
    raise typer.Exit(exits.SPEC)


def _one(run: StoredRun, trial: str, full: bool, form: str) -> None:
    from mcpeval_dsl.diagnostics.render.text import wants_colour
    from mcpeval_dsl.report import transcript
    from mcpeval_dsl.report.page import Page

    record = find_trial(run, trial)
    if form == "json":
        print(record.model_dump_json(indent=1))
        return
    page = Page(run.name, wants_colour(sys.stdout))
    sys.stdout.write(transcript.render(record, page, full))
    for earlier in run.reader.superseded():
        if earlier.id == trial:
            # Not counted, but a violation in it is: whoever looks for that must find it here.
            print("\nAN EARLIER ATTEMPT, run again since; only its violations count\n")
            sys.stdout.write(transcript.render(earlier, page, full))
