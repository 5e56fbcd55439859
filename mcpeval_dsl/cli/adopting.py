"""Command line, for `mcpe score --spec`: a run takes over the graders and gate of its spec as it is now.

Content keys decide: where each trial on record would be made in the same way, only how it is judged has changed.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.cli.stored import StoredRun, read_run
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Plan

_SHOWN = 5


def adopt(run: StoredRun, spec: str) -> StoredRun | None:
    """The run with the plan that its spec makes now; None after saying why not."""
    from mcpeval_dsl.records.folder import RunnerLock
    from mcpeval_dsl.records.manifests import in_use

    plan = _compiled(run, spec)
    if plan is None:
        return None
    others = different(run, plan)
    if others:
        show([_refusal(run.name, spec, others)], {}, stream=sys.stderr)
        return None
    lock = RunnerLock(run.reader.folder)
    if not lock.take():
        show([in_use(str(run.reader.folder.path))], {}, stream=sys.stderr)
        return None
    try:
        _write(run, plan)
    finally:
        lock.release()
    return read_run(run.root, run.reader.folder.path)


def _compiled(run: StoredRun, spec: str) -> Plan | None:
    from mcpeval_dsl.cli import specs as loading

    specs = loading.load([spec])
    plans = loading.plan(specs, run.plan.selection) if not specs.failed and specs.suites else []
    show(specs.diagnostics, specs.sources, stream=sys.stderr)
    chosen = next((plan for plan in plans if plan.suite.name == run.plan.suite.name), None)
    if chosen is None and not specs.failed:
        title = f"{spec} has no suite `{run.plan.suite.name}`, which the run is of"
        show([Diagnostic("MCPE545", title, hint="name the spec that the run was made from")], {}, stream=sys.stderr)
    return None if specs.failed else chosen


def different(run: StoredRun, plan: Plan) -> tuple[str, ...]:
    """Tasks with a trial on record that this plan would not make, or not so."""
    from mcpeval_dsl.plan.model import TrialGroup, trial_id, trial_key

    wanted = {
        trial_id(group.id, number): trial_key(group.key, number)
        for group in plan.nodes
        if isinstance(group, TrialGroup)
        for number in range(1, group.trials + 1)
    }
    kept = run.reader.trial_keys()
    return tuple(dict.fromkeys(id_.split("@")[0] for id_, key in sorted(kept.items()) if wanted.get(id_) != key))


def _write(run: StoredRun, plan: Plan) -> None:
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.records.folder import write_whole

    data = files.write(plan)
    manifest = run.reader.manifest().model_copy(
        update={
            "plan_key": plan.key,
            "plan_sha256": hashlib.sha256(data).hexdigest(),
            "files": {entry.path: entry.sha256 for entry in (*plan.files, *plan.fixtures)},
        }
    )
    folder = run.reader.folder
    write_whole(folder.plan, data)
    write_whole(folder.manifest, manifest.model_dump_json(indent=2).encode() + b"\n")


def _refusal(run: str, spec: str, tasks: tuple[str, ...]) -> Diagnostic:
    shown = ", ".join(tasks[:_SHOWN]) + (f" and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else "")
    return Diagnostic(
        "MCPE545",
        f"the trials of {shown} in run `{run}` were made with something else than {spec} says now",
        body="Only how trials are judged can change without running them again.",
        hint=f"run it: mcpe run {spec}",
    )
