"""Command line, shared by compare and scoring: stored runs as the sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.cli.stored import StoredRun, code, kept_plan

if TYPE_CHECKING:
    from mcpeval_dsl.score.sides import Side


def side_of(run: StoredRun) -> Side:
    """One pass over the records of a run. Raises DamagedRecord and StoreError."""
    from mcpeval_dsl.score.sides import Side
    from mcpeval_dsl.score.stored import gather_stored

    reader = run.reader
    found = gather_stored(run.plan, reader, code())
    return Side(
        name=run.name,
        plan=run.plan,
        frame=found.frame,
        safety=found.tallies.safety.result(),
        leads=found.tallies.leads.result(),
        connects=reader.connects(),
        manifest=reader.manifest(),
        repeats=sum(found.repeats.values()),
        answered=found.tallies.answered,
        began=found.tallies.began,
    )


def baselines_of(run: StoredRun) -> Mapping[str, Side | str]:
    """The runs that the gate of this one names, or why one of them is not there to compare with."""
    names = dict.fromkeys(rule.baseline for rule in run.plan.suite.gate.rules if rule.baseline is not None)
    return {name: _baseline(run, name) for name in names}


def _baseline(run: StoredRun, name: str) -> Side | str:
    """Named as commands name it, or by a path below the project or its `.mcpe`, as in `runs/main`."""
    from mcpeval_dsl.records import folder
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.records.folder import RunFolder
    from mcpeval_dsl.records.reader import RunReader

    root = _project_of(run.reader.folder.path.resolve()) or run.root
    places = [RunFolder(root / ".mcpe" / name), RunFolder(root / name)]
    found = next((place for place in places if place.exists), None) or folder.find(root, name)
    if found is None:
        return f"there is no run `{name}`: `mcpe runs` lists those that there are"
    if found.path.resolve() == run.reader.folder.path.resolve():
        return f"`{name}` is this run"
    reader = RunReader(found)
    try:
        plan = kept_plan(reader)
        if plan.value is None:
            return f"the plan of `{name}` cannot be read: {plan.diagnostics[0].title}"
        return side_of(StoredRun(root, found.path.name, reader, plan.value))
    except (DamagedRecord, OSError, ValueError) as error:
        return f"`{name}` cannot be read: {error}"


def _project_of(path: Path) -> Path | None:
    """The project of a run folder at `.mcpe/runs/NAME`."""
    above = path.parents
    return above[2] if len(above) > 2 and path.parent.name == "runs" and above[1].name == ".mcpe" else None
