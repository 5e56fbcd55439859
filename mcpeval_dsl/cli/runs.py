"""Command line: `mcpe runs`, the runs of this project, the latest first."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.versions import first_line

if TYPE_CHECKING:
    from mcpeval_dsl.records.folder import RunFolder

HELP = """List the runs of this project, the latest first.

Example: mcpe runs
"""


def command(form: str = typer.Option("text", "--format", help="text or json (JSON Lines).")) -> None:
    from mcpeval_dsl.cli import stored
    from mcpeval_dsl.records import folder

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    root = stored.root_of_project()
    if root is None:
        raise typer.Exit(exits.SPEC)
    found = [_about(run) for run in folder.runs(root)]
    if form == "json":
        print(first_line("runs"))
        for entry in found:
            print(json.dumps({"type": "run", **entry}, ensure_ascii=False))
        return
    if not found:
        print("no runs yet: make one with `mcpe run`", file=sys.stderr)
        return
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.report.page import table

    rows = [
        ("RUN", "LAST WRITTEN", "TRIALS", "GATE"),
        *((visible(e["run"]), e["written"], e["trials"], e["gate"]) for e in found),
    ]
    print("\n".join(table(rows, right=(2,))))


def _about(run: RunFolder) -> dict[str, Any]:
    from mcpeval_dsl.cli.scoring import SCORECARD
    from mcpeval_dsl.records.folder import last_written
    from mcpeval_dsl.records.reader import RunReader

    reader = RunReader(run)
    planned = sum(1 for _ in reader.planned())
    try:
        gate = json.loads((run.path / SCORECARD).read_bytes())["gate"]["word"]
    except (OSError, ValueError, KeyError, TypeError):
        gate = "not scored"
    written = datetime.fromtimestamp(last_written(run)).astimezone().isoformat(" ", "seconds")
    done = len(reader.completed_keys())
    return {"run": run.path.name, "written": written, "trials": f"{done} of {planned}", "gate": gate}
