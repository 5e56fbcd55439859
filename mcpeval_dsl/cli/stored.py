"""Command line, shared by what reads runs: finds a run by its name, reads its plan, and says what is wrong with it."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.diagnostics.model import Checked, Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.reader import RunReader
    from mcpeval_dsl.source import SourceFile


_JUDGING = ("semantics", "plan", "values", "gateway", "agents", "records", "provenance", "grade", "statistics", "score")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """`root` is the project; `name` is how commands call the run."""

    root: Path
    name: str
    reader: RunReader
    plan: Plan


def root_of_project() -> Path | None:
    """The project's root; None after saying what is wrong with its configuration."""
    from mcpeval_dsl.project.files import find

    project = find(Path.cwd())
    if project.value is None:
        show(project.diagnostics, {}, stream=sys.stderr)
        return None
    return project.value.root


def find_run(name: str | None, any_plan: bool = False) -> StoredRun | None:
    """The run of that name, the latest without one; None after saying why there is none. `any_plan` as in `kept_plan`."""
    from mcpeval_dsl.records import folder

    root = root_of_project()
    if root is None:
        return None
    found = folder.find(root, name)
    if found is None:
        show([_no_run(root, name)], {}, stream=sys.stderr)
        return None
    return read_run(root, found.path, any_plan)


def read_run(root: Path, path: Path, any_plan: bool = False) -> StoredRun | None:
    """The run in a folder; None after saying why its plan cannot be read."""
    from mcpeval_dsl.records.folder import RunFolder
    from mcpeval_dsl.records.reader import RunReader

    reader = RunReader(RunFolder(path))
    plan = kept_plan(reader, any_plan)
    if plan.value is None:
        show(plan.diagnostics, {}, stream=sys.stderr)
        return None
    return StoredRun(root, path.name, reader, plan.value)


def kept_plan(reader: RunReader, any_plan: bool = False) -> Checked[Plan]:
    """The plan that a run was made with. `any_plan` takes one that was changed since, to put another in its place.

    Raises StoreError where the run has no manifest that can be read.
    """
    from mcpeval_dsl.plan import files

    data = reader.plan_bytes()
    plans = files.read(data, str(reader.folder.plan))
    if plans.value is None or not plans.value.plans:
        return Checked(None, plans.diagnostics)
    if not any_plan and hashlib.sha256(data).hexdigest() != reader.manifest().plan_sha256:
        return Checked(None, (_other_plan(reader.folder.path.name),))
    return Checked(plans.value.plans[0])


@lru_cache(maxsize=1)
def code() -> str:
    """Names the code that grades and scores, by its own text: another text may judge otherwise."""
    found = hashlib.sha256()
    package = Path(__file__).parent.parent
    for room in _JUDGING:
        for path in sorted((package / room).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def look_at(run: StoredRun) -> int | None:
    """Results of the run's held-out tasks are about to be shown: how many runs' have been. None where it cannot be counted."""
    from mcpeval_dsl.records.looks import looked

    try:
        return looked(run.root, run.plan.suite.name, run.name)
    except OSError as error:
        print(f"warning: this look at held-out tasks cannot be counted: {error.strerror}", file=sys.stderr)
        return None


def texts(run: StoredRun) -> dict[str, SourceFile]:
    """The specs the run was made from, to quote from; those that have changed since are not quoted."""
    from mcpeval_dsl.project.files import digests
    from mcpeval_dsl.source import SourceFile

    now = digests(run.root, [entry.path for entry in run.plan.files])
    found: dict[str, SourceFile] = {}
    for entry in run.plan.files:
        if now.get(entry.path) == entry.sha256:
            text = (run.root / entry.path).read_text(encoding="utf-8", errors="replace")
            found[entry.path] = SourceFile(entry.path, text)
    return found


def damaged(reason: str) -> Diagnostic:
    return Diagnostic(
        "MCPE543",
        f"a record is damaged: {reason}",
        body="A record whose bytes are not those that were written is never scored.",
        hint="restore the run folder from a copy, or run again with `mcpe run --fresh`",
    )


def _other_plan(run: str) -> Diagnostic:
    return Diagnostic(
        "MCPE543",
        f"plan.json of the run `{run}` is not the plan that the run was made with",
        body="Tasks, graders and the gate are in the plan: with another one, trials would be judged by what nobody ran.",
        hint="restore plan.json from a copy, or take the plan of the spec with `mcpe score RUN --spec SPEC`",
    )


def _no_run(root: Path, name: str | None) -> Diagnostic:
    from mcpeval_dsl.diagnostics.suggestions import closest
    from mcpeval_dsl.records import folder

    if name is None:
        return Diagnostic("MCPE542", "this project has no run yet", hint="make one with `mcpe run`")
    known = [run.path.name for run in folder.runs(root)]
    starts = [run for run in known if run.startswith(name)]
    near = closest(name, known)
    hint = f"did you mean `{near}`?" if near else "list the runs with `mcpe runs`"
    if len(starts) > 1:
        hint = f"{len(starts)} runs begin so; say more, for example `{starts[0]}`"
    return Diagnostic(
        "MCPE542",
        f"there is no run `{name}`",
        body="A run is named by its folder under .mcpe/runs, by the start of that name, or by a path.",
        hint=hint,
    )
