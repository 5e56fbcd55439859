"""Command line: `mcpe trust`, the exact command lines of a spec allowed once, by a person who has read them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Allow the programs of a spec to be started: exactly the lines shown, and nothing else.

Example: mcpe trust specs/tracker.mcpe --write ci-trust.json
"""


def command(
    spec: Annotated[
        list[str] | None, typer.Argument(help="Specs or folders; without any, those of the project.")
    ] = None,
    write: str = typer.Option(
        "", "--write", help="Write a trust file (for `mcpe run --trust-file`) instead of your own store."
    ),
    yes: bool = typer.Option(False, "--yes", help="Do not ask; the lines are shown all the same."),
) -> None:
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.trusting import ask, of_plan
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.execute import trust
    from mcpeval_dsl.plan.model import Selection

    specs = loading.load(spec or [], with_lock=False)
    plans = [] if specs.failed else loading.plan(specs, Selection(heldout=True))
    if specs.failed or not plans or specs.project is None:
        show(specs.diagnostics, specs.sources, stream=sys.stderr)
        raise typer.Exit(exits.SPEC)
    items = [item for plan in plans for item in of_plan(plan, specs.project.root, starting=False)]
    target = trust.TrustFile(Path(write)) if write else trust.personal_store()
    try:
        new = trust.untrusted(items, [target])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    for item in new:
        print(visible(item.shown()))  # as a terminal shows it, nothing may hide a part of what is trusted
    if not new:
        print("everything these specs start is trusted already")
        return
    if not write and not yes and not (sys.stdin.isatty() and ask(new)):
        print("nothing was trusted: read the lines, then add --yes", file=sys.stderr)
        raise typer.Exit(exits.SPEC)
    target.add(new)
    count = "1 line" if len(new) == 1 else f"{len(new)} lines"
    print(f"{count} trusted in {target.path}", file=sys.stderr)
