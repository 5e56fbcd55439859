"""Command line, behind `mcpe defects --confirm`: each lead replayed, the result kept beside the run, checks written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.cli.stored import texts
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
MOST_TRIALS = 3
"""Of so many trials (or harvests) a lead is replayed, until one of them reproduces it."""

_TOLD = {"unconfirmed": 0, "not_reproduced": 1, "flaky": 2, "eventual": 3, "resource_limit": 3, "confirmed": 4}


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
    chosen = [
        (name, shown) for name, shown in cases.items() if not options.only or any(part in name for part in options.only)
    ]
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


def _cases(run: StoredRun, context: RunContext) -> tuple[dict[str, LeadRow], dict[str, list[Case]]]:
    """Each lead once, by its id, with the trials and harvests that show it: one case of each of some trials."""
    from mcpeval_dsl.execute.ladder_replay import Case
    from mcpeval_dsl.execute.nodes import calls_before
    from mcpeval_dsl.provenance.leads import harvest_leads
    from mcpeval_dsl.score.suspicions import LeadTally, lead_id

    tally = LeadTally()
    harvests = sorted(run.reader.harvests(), key=lambda harvest: harvest.id)
    read = {call.id: call for harvest in harvests for call in harvest.calls}
    cases: dict[str, list[Case]] = {}
    for record in run.reader.records():
        used = [read[name] for name in dict.fromkeys(record.harvested.values()) if name in read]
        if record.not_applicable or not record.leads:
            continue
        tally.add(record, used)
        for lead in record.leads:
            _add(cases, lead_id(lead), Case(lead, record.id, (*used, *record.calls), record=record))
    for harvest in harvests:
        tally.add_harvest(harvest, read)
        node = context.harvest_nodes.get(harvest.id)
        for lead in harvest.leads or harvest_leads(harvest.calls):
            if node is not None:
                calls = (*calls_before(context, node), *harvest.calls)
                _add(cases, lead_id(lead), Case(lead, f"harvest {harvest.id}", calls, node=node))
    return {row.id: row for row in tally.result()}, cases


def _add(cases: dict[str, list[Case]], name: str, case: Case) -> None:
    """Another trial that shows the lead, up to a few; leads that need no replay to count come first."""
    known = cases.setdefault(name, [])
    if any(other.name == case.name for other in known):
        return
    known.append(case)
    known.sort(key=lambda item: item.lead.strength != "lead")
    del known[MOST_TRIALS:]


def _replay(work: _Work, cases: Sequence[tuple[str, Sequence[Case]]]) -> None:
    import asyncio

    async def go() -> None:
        for number, (name, shown) in enumerate(cases, start=1):
            print(f"replaying {number} of {len(cases)}: {name}", file=sys.stderr, flush=True)
            case, judged = await _judged(work, shown)
            defect = _recorded(work, name, case, judged)
            if defect.status == "confirmed" and judged.rung is not None:
                defect = await _written(work, defect, case, judged.rung)
            await asyncio.wrap_future(work.store.save_defect(defect))
            work.done.append(defect)

    asyncio.run(go())


async def _judged(work: _Work, cases: Sequence[Case]) -> tuple[Case, Judged[Rung]]:
    """The first trial whose lead is reproduced; where none is, the one of which most is known."""
    from mcpeval_dsl.execute.ladder_replay import replay

    best: tuple[Case, Judged[Rung]] | None = None
    for case in cases:
        judged = await replay(work.context, case, work.options.window)
        if judged.status in ("confirmed", "eventual", "resource_limit"):
            return case, judged
        if best is None or (_TOLD[judged.status], judged.counted) > (_TOLD[best[1].status], best[1].counted):
            best = (case, judged)
    assert best is not None, "a lead has a trial that shows it"
    return best


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
    shown = "broken"
    for setting in _settings(work, case, folder):
        try:
            text = reproduction.written(defect, work.rows[defect.id], rung.steps, setting)
        except ValueError as problem:
            return defect.model_copy(update={"reason": f"no check could be written: {problem}"})
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8", "replace"))
        shown = await _shown(work, path)
        if shown == "fails":
            name = os.path.relpath(path, work.run.root)
            return defect.model_copy(update={"reproduction": name, "shown": True})
    path.unlink(missing_ok=True)
    why = "no check could be written for it" if shown == "broken" else "a check that stands alone passes"
    return defect.model_copy(update={"reason": why})


def _folder(work: _Work) -> Path:
    given = work.options.output
    return (Path.cwd() / given).resolve() if given else work.run.reader.folder.path / FOLDER


def _settings(work: _Work, case: Case, folder: Path) -> Iterator[Setting]:
    """The least that a check may need first: without the task's own set-up, then with it. None where the spec has changed."""
    from mcpeval_dsl.execute.remote import is_remote
    from mcpeval_dsl.report.excerpts import Spec
    from mcpeval_dsl.report.reproduction import Setting
    from mcpeval_dsl.syntax import parse

    sources = texts(work.run)
    if set(sources) != {entry.path for entry in work.run.plan.files}:
        return
    record, context = case.record, work.context
    task = context.tasks[record.task] if record is not None else None
    name = task.environment if task is not None else None
    if case.node is not None:
        name = context.harvest(case.node).environment or name
    environment = context.environments.get(name or "")
    server = context.servers.get(case.lead.server)
    shared = (environment is not None and environment.scope == "run") or (server is not None and is_remote(server))
    trees = [tree for source in sources.values() if (tree := parse(source).value) is not None]
    spec = Spec(work.run.root, trees)
    workdir = str(record.scope.get("workdir", "")) if record is not None else ""
    setting = Setting(spec, folder, name, workdir, work.run.name, shared=shared)
    yield setting
    setup = spec.setup_of(task.name) if task is not None else ()
    if setup:
        yield replace(setting, setup=setup)


async def _shown(work: _Work, path: Path) -> Literal["fails", "passes", "broken"]:
    """Whether the check fails now, as it should.

    Nothing new is started for it: what it starts was cut from the spec that the run was made from, which is unchanged.
    """
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute.check_nodes import checks_of_plan
    from mcpeval_dsl.plan.model import Selection

    loaded = loading.load([str(path)])
    plans = loading.plan(loaded, Selection()) if loaded.suites and not loaded.failed else []
    if not plans:
        return "broken"
    context = prepare.context_of(plans[0], path.parent / "replay", work.settings, with_models=False).value
    assert context is not None
    results = [result for _, lines in await checks_of_plan(context) for result in lines]
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
