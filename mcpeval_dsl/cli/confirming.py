"""Command line, behind `mcpe defects --confirm`: each lead replayed, the result kept beside the run, checks written."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.execute.ladder import Judged
    from mcpeval_dsl.execute.ladder_replay import Case
    from mcpeval_dsl.execute.ladder_slice import Rung
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.records.defects import DefectRecord
    from mcpeval_dsl.records.store import RunStore
    from mcpeval_dsl.report.reproduction import Setting
    from mcpeval_dsl.score.model import LeadRow

FOLDER = "defects"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says about replaying."""

    only: tuple[str, ...] = ()
    output: str = ""
    window: float = 5.0
    jobs: int | None = None
    trust_files: tuple[str, ...] = ()
    allow_writes: bool = False


@dataclass(slots=True)
class _Work:
    """One run's leads being replayed."""

    run: StoredRun
    options: Options
    context: RunContext
    settings: RunSettings
    store: RunStore
    rows: dict[str, LeadRow]
    done: list[DefectRecord] = field(default_factory=list)


def confirm(run: StoredRun, options: Options) -> int:
    """1 when a defect is confirmed, 3 when a lead could not be replayed, 2 when nothing could begin."""
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.records import store as stores

    if not trusting.allowed(run.plan, run.root, options.trust_files):
        return exits.SPEC
    try:
        settings = operator.load(run.root, jobs=options.jobs, allow_writes=options.allow_writes)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return exits.SPEC
    path = run.reader.folder.path
    context = prepare.context_of(run.plan, path / "replay", settings, with_models=False).value
    assert context is not None, "without models there is nothing to refuse"
    context.connects.update({entry.id: entry for entry in run.reader.connects()})
    context.harvests.update({entry.id: entry for entry in run.reader.harvests()})
    rows, cases = _cases(run, context)
    chosen = [case for name, case in cases.items() if not options.only or any(part in name for part in options.only)]
    if options.only and not chosen:
        hint = f"there are: {', '.join(cases)}" if cases else "this run has no lead"
        title = f"no lead is named `{options.only[0]}`"
        show([Diagnostic("MCPE510", title, hint=hint)], {}, stream=sys.stderr)
        return exits.SPEC
    opened = stores.open_run(path, None, lambda value: context.redactor.value(value)[0])
    if opened.value is None:
        show(opened.diagnostics, {}, stream=sys.stderr)
        return exits.SPEC
    with opened.value as store:
        work = _Work(run, options, context, settings, store, rows)
        _replay(work, chosen)
    return _rescored(work)


def _cases(run: StoredRun, context: RunContext) -> tuple[dict[str, LeadRow], dict[str, Case]]:
    """Each lead once, by its id, with the first trial or harvest that shows it."""
    from mcpeval_dsl.execute.ladder_replay import Case
    from mcpeval_dsl.provenance.leads import harvest_leads
    from mcpeval_dsl.score.suspicions import LeadTally, lead_id

    tally = LeadTally()
    harvests = sorted(run.reader.harvests(), key=lambda harvest: harvest.id)
    read = {call.id: call for harvest in harvests for call in harvest.calls}
    cases: dict[str, Case] = {}
    for record in run.reader.records():
        used = [read[name] for name in dict.fromkeys(record.harvested.values()) if name in read]
        if record.not_applicable or not record.leads:
            continue
        tally.add(record, used)
        for lead in record.leads:
            cases.setdefault(lead_id(lead), Case(lead, record.id, (*used, *record.calls), record=record))
    for harvest in harvests:
        tally.add_harvest(harvest)
        node = context.harvest_nodes.get(harvest.id)
        for lead in harvest.leads or harvest_leads(harvest.calls):
            if node is not None:
                cases.setdefault(lead_id(lead), Case(lead, f"harvest {harvest.id}", harvest.calls, node=node))
    return {row.id: row for row in tally.result()}, cases


def _replay(work: _Work, cases: Sequence[Case]) -> None:
    import asyncio

    from mcpeval_dsl.execute.ladder_replay import replay
    from mcpeval_dsl.score.suspicions import lead_id

    async def go() -> None:
        for number, case in enumerate(cases, start=1):
            name = lead_id(case.lead)
            print(f"replaying {number} of {len(cases)}: {name}", file=sys.stderr, flush=True)
            judged = await replay(work.context, case, work.options.window)
            defect = _recorded(work, name, case, judged)
            if defect.status == "confirmed" and judged.rung is not None:
                defect = await _written(work, defect, case, judged.rung)
            await asyncio.wrap_future(work.store.save_defect(defect))
            work.done.append(defect)

    asyncio.run(go())


def _recorded(work: _Work, name: str, case: Case, judged: Judged[Rung]) -> DefectRecord:
    from mcpeval_dsl.plan.keys import digest
    from mcpeval_dsl.records.defects import DefectRecord
    from mcpeval_dsl.statistics.intervals import clopper_pearson

    interval = clopper_pearson(judged.failed, judged.counted) if judged.counted else None
    return DefectRecord(
        id=name,
        key=digest({"kind": "defect", "lead": name, "plan": work.run.plan.key}),
        lead=case.lead,
        trial=case.name,
        status=judged.status,
        rung=judged.rung.name if judged.rung is not None else "",
        calls=tuple(step.call.id for step in judged.rung.steps) if judged.rung is not None else (),
        failed=judged.failed,
        counted=judged.counted,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        reason=judged.reason,
        infrastructure=judged.infrastructure,
    )


async def _written(work: _Work, defect: DefectRecord, case: Case, rung: Rung) -> DefectRecord:
    """The defect with its check, if one can be written that is free of mistakes and fails now."""
    from mcpeval_dsl.records.folder import write_whole
    from mcpeval_dsl.report import reproduction

    folder = _folder(work)
    path = folder / reproduction.file_name(defect.id)
    try:
        text = reproduction.written(defect, work.rows[defect.id], rung.steps, _setting(work, case, folder))
    except ValueError as problem:
        return defect.model_copy(update={"reason": f"no check could be written: {problem}"})
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "replace"))
    shown = await _shown(work, path)
    if shown in ("broken", "passes"):
        path.unlink(missing_ok=True)
        why = (
            "no check could be written for it" if shown == "broken" else "a check without the trial's own set-up passes"
        )
        return defect.model_copy(update={"reason": why})
    name = os.path.relpath(path, work.run.root)
    return defect.model_copy(update={"reproduction": name, "shown": True if shown == "fails" else None})


def _folder(work: _Work) -> Path:
    given = work.options.output
    return (Path.cwd() / given).resolve() if given else work.run.reader.folder.path / FOLDER


def _setting(work: _Work, case: Case, folder: Path) -> Setting:
    from mcpeval_dsl.report.reproduction import Setting

    plan, record = work.run.plan, case.record
    task = work.context.tasks[record.task] if record is not None else None
    environment = task.environment if task is not None else None
    if case.node is not None:
        environment = work.context.harvest(case.node).environment
    spec = os.path.relpath(work.run.root / plan.suite.spec, folder).replace(os.sep, "/")
    workdir = str(record.scope.get("workdir", "")) if record is not None else ""
    return Setting(spec, environment, workdir, work.run.name)


async def _shown(work: _Work, path: Path) -> Literal["fails", "passes", "broken", "not tried"]:
    """Whether the check fails now, as it should.

    Nothing new is started for it: it only imports what the run was made from, and is carried out only if that is unchanged.
    """
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.project import digests
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute.checking import run_check
    from mcpeval_dsl.plan.model import Selection

    loaded = loading.load([str(path)])
    plans = loading.plan(loaded, Selection()) if loaded.suites and not loaded.failed else []
    if not plans:
        return "broken"
    now = digests(work.run.root, [entry.path for entry in work.run.plan.files])
    if any(now.get(entry.path) != entry.sha256 for entry in work.run.plan.files):
        return "not tried"
    context = prepare.context_of(plans[0], path.parent / "replay", work.settings, with_models=False).value
    assert context is not None
    results = [result for check in plans[0].checks for result in await run_check(context, check)]
    return "fails" if results and results[-1].state == "fail" else "passes"


def _rescored(work: _Work) -> int:
    """The scorecard with what is known now, and the command's exit code."""
    from mcpeval_dsl.cli import scoring
    from mcpeval_dsl.records.folder import write_whole
    from mcpeval_dsl.score.scorecard import to_bytes

    scored = scoring.score(work.run)
    write_whole(work.run.reader.folder.path / scoring.SCORECARD, to_bytes(scored.scorecard))
    codes = [exits.FINDINGS for defect in work.done if defect.status == "confirmed"]
    codes += [exits.INCOMPLETE for defect in work.done if defect.infrastructure]
    return exits.worst(*codes)
