"""Command line: `mcpe compare`, whether a run is worse than an earlier one."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show

HELP = """Compare a run with an earlier one: a regression, none shown, or too little data to say.

Runs are named as in `mcpe runs`: by their folder, the start of its name, or a path. Tasks, graders, fixtures, agents and limits
have to be the same in both, else the comparison is refused and says why; --accept NAME allows one such difference.

Exit codes: 0 no regression is shown, 1 one is, 2 refused, 4 too little data.

Example: mcpe compare tracker-2026-12-01 tracker-2026-11-30 --accept models
"""


def command(
    run: Annotated[str, typer.Argument(help="The run to judge.")],
    baseline: Annotated[str, typer.Argument(help="The earlier run.")],
    accept: Annotated[
        list[str] | None, typer.Option(help="A difference to allow, by its name; may be repeated.")
    ] = None,
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import stored
    from mcpeval_dsl.cli.sides import side_of
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.score.runs import compare_runs

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    accepted = _accepted(accept or [])
    sides, runs = [], []
    for name in (run, baseline):
        found = stored.find_run(name)
        if found is None:
            raise typer.Exit(exits.SPEC)
        runs.append(found)
        try:
            sides.append(side_of(found))
        except DamagedRecord as error:
            show([stored.damaged(str(error))], {}, stream=sys.stderr)
            raise typer.Exit(exits.DISK) from None
    if sides[0].name == sides[1].name:
        raise typer.BadParameter("a run is not compared with itself")
    result = compare_runs(sides[0], sides[1], accepted)
    if any(cell.split == "heldout" for cell in result.cells):
        numbers = [stored.look_at(each) for each in reversed(runs)]
        result = result.model_copy(update={"heldout_looks": max((n for n in numbers if n), default=None)})
    if form == "json":
        from mcpeval_dsl.cli.versions import first_line

        print(first_line("comparison"))
        print(json.dumps({"type": "comparison", "comparison": result.model_dump(mode="json")}, ensure_ascii=False))
    else:
        from mcpeval_dsl.diagnostics.render.text import wants_colour
        from mcpeval_dsl.report.comparison import render

        sys.stdout.write(render(result, wants_colour(sys.stdout)))
    sys.stdout.flush()
    raise typer.Exit(result.exit_code)


def _accepted(names: list[str]) -> tuple[str, ...]:
    """Names given one by one or with commas between them."""
    from mcpeval_dsl.diagnostics.suggestions import closest
    from mcpeval_dsl.score.comparable import NAMES

    found = tuple(name.strip() for given in names for name in given.split(",") if name.strip())
    for name in found:
        if name not in NAMES:
            near = closest(name, NAMES)
            hint = f"did you mean `{near}`?" if near else f"they are {', '.join(NAMES)}"
            raise typer.BadParameter(f"--accept knows no difference `{name}`: {hint}")
    return found
