"""Command line: `mcpe graph`, what depends on what, of specs or of a plan file. Reads files and starts nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.values.regular import regular_bytes

if TYPE_CHECKING:
    from mcpeval_dsl.cli.specs import Specs
    from mcpeval_dsl.plan.model import Plan

HELP = """Show what depends on what: connects, harvests, trials, checks, and the longest chain.

Example: mcpe graph specs/tracker.mcpe --format mermaid
"""
FORMATS = ("text", "json", "dot", "mermaid")


def command(
    spec: Annotated[
        list[str] | None, typer.Argument(help="Specs, folders or one plan file (.json); else the project's specs.")
    ] = None,
    form: str = typer.Option("text", "--format", help="text, json (JSON Lines), dot or mermaid."),
    select: Annotated[list[str] | None, typer.Option("--select", "-s", help="As for mcpe compile.")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="As for mcpe compile.")] = None,
    heldout: bool = typer.Option(False, "--heldout", help="Take held-out tasks in as well."),
) -> None:
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show

    if form not in FORMATS:
        raise typer.BadParameter(f"--format is one of {', '.join(FORMATS)}, not `{form}`")
    given = spec or []
    if len(given) == 1 and given[0].endswith(".json"):
        if select or exclude or heldout:
            raise typer.BadParameter("a plan file is already selected; give --select with a spec")
        specs, plans = _from_plan(given[0])
    else:
        from mcpeval_dsl.plan.model import Selection

        specs = loading.load(given)
        chosen = Selection(select=tuple(select or ()), exclude=tuple(exclude or ()), heldout=heldout)
        plans = [] if specs.failed else loading.plan(specs, chosen)
    if specs.diagnostics:
        show(specs.diagnostics, specs.sources, "text", sys.stderr)
    if specs.failed or not plans:
        raise typer.Exit(exits.SPEC)
    _print(plans, form)


def _from_plan(path: str) -> tuple[Specs, list[Plan]]:
    from mcpeval_dsl.cli.specs import Specs
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.plan import files

    try:
        data = regular_bytes(Path(path))
    except OSError as error:
        return Specs(diagnostics=[Diagnostic("MCPE576", f"{path} cannot be read: {error.strerror}")]), []
    found = files.read(data, path)
    return Specs(diagnostics=list(found.diagnostics)), list(found.value.plans) if found.value is not None else []


def _print(plans: list[Plan], form: str) -> None:
    from mcpeval_dsl.diagnostics.render.safe import visible_lines
    from mcpeval_dsl.plan import graph

    draw = {"text": graph.as_text, "json": graph.as_lines, "dot": graph.as_dot, "mermaid": graph.as_mermaid}[form]
    for number, plan in enumerate(plans):
        if number and form == "text":
            print()
        sys.stdout.write(visible_lines(draw(plan)))
