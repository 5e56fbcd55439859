"""Command line: `mcpe doctor`, what this machine offers and what would stand in the way of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Say how the project stands, what this machine offers, and what would stand in the way of a run.

Specs, locks and trust are read; no server is started, nothing is changed, and no key is shown.

Exit code 1 where something is an error. A warning is something that a run gets along without.

Example: mcpe doctor
"""


def command(
    form: Annotated[str, typer.Option("--format", help="text or json (JSON Lines).")] = "text",
) -> None:
    from mcpeval_dsl.cli import doctoring
    from mcpeval_dsl.cli.versions import first_line
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.execute.machine import Finding, examine
    from mcpeval_dsl.project import files as project

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    found = project.find(Path.cwd())
    root = Path.cwd() if found.value is None else found.value.root
    said: list[Finding] = [*doctoring.examine(found, root), *examine(root)]
    if form == "json":
        print(first_line("doctor"))
        for each in said:
            print(
                json.dumps(
                    {
                        "type": "finding",
                        "name": each.name,
                        "state": each.state,
                        "detail": each.detail,
                        "hint": each.hint,
                    }
                )
            )
    else:
        width = max(len(each.name) for each in said)
        for each in said:
            print(f"{each.state:<7}  {each.name:<{width}}  {visible(each.detail)}")
            if each.hint and each.state in ("warning", "error"):
                print(f"{'':<7}  {'':<{width}}  {visible(each.hint)}")
        counts = {state: sum(each.state == state for each in said) for state in ("error", "warning")}
        print(", ".join(f"{count} {state}{'' if count == 1 else 's'}" for state, count in counts.items()))
    raise typer.Exit(exits.FINDINGS if any(each.state == "error" for each in said) else exits.CLEAN)
