"""Command line, behind `mcpe selftest`: tasks and graders tried with agents that are no models, in the path of a run.

The agent `reference` plays a task's reference, and its answer is the one that the graders ask for; `null` does nothing. The
trial that passed is then graded again with answers that are wrong in one place.
"""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show

if TYPE_CHECKING:
    from mcpeval_dsl.cli.examining import Examiner, Tried
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.store import RunStore

FOLDER = Path(".mcpe") / "selftest"


def carry_out(plan: Plan, settings: RunSettings, keep: bool) -> tuple[list[Tried], int]:
    """What came of every task of the plan, in its order, and the exit code. The folder of the run goes at the end."""
    from mcpeval_dsl.agents.drivers.reference import NullDriver, ReferenceDriver
    from mcpeval_dsl.cli.examining import Examiner
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute.manifest import manifest_of
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.plan.selftest import NULL, REFERENCE, selftest_plan
    from mcpeval_dsl.records import store as stores

    tested = selftest_plan(plan)
    folder = settings.project_root / FOLDER / f"{plan.suite.name[:50]}-{secrets.token_hex(4)}"
    context = prepare.context_of(tested, folder, settings, with_models=False).value
    assert context is not None, "without models there is nothing to refuse"
    catalogues = {server.name: server.catalog for server in plan.servers if server.catalog}
    driver = ReferenceDriver({task.name: task.reference for task in tested.tasks}, catalogues)
    context.drivers = {REFERENCE: driver, NULL: NullDriver()}
    data = files.write(tested)
    manifest = manifest_of(tested, data, folder.name, context.spec_folder, settings)
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    opened = stores.create(folder, data, manifest, lambda value: context.redactor.value(value)[0])
    if opened.value is None:
        show(opened.diagnostics, {}, stream=sys.stderr)
        return [], exits.DISK
    examiner = Examiner(plan, tested, context, driver.problems)
    try:
        with opened.value as store:
            ended = _run(context, store, examiner)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    tried = examiner.result()
    return tried, exits.worst(ended, code_of(tried))


def _run(context: RunContext, store: RunStore, examiner: Examiner) -> int:
    import asyncio

    from mcpeval_dsl.execute.interrupts import StopRequest, signals_to
    from mcpeval_dsl.execute.scheduler import RunSummary, Scheduler

    async def go() -> RunSummary:
        stop = StopRequest()
        with signals_to(stop):
            return await Scheduler(context, store, examiner.finish, lambda event: None, stop).run()

    summary = asyncio.run(go())
    for record in summary.drift:
        print(f"error: server {record.server} is not what was locked: {record.message}", file=sys.stderr)
    return exits.INTERRUPTED if summary.interrupted else exits.INCOMPLETE if summary.drift else exits.CLEAN


def code_of(tried: Iterable[Tried]) -> int:
    """1 for a finding, 3 where infrastructure kept something from being tried, 4 where nothing was tried at all."""
    found = list(tried)
    if any(each.findings for each in found):
        return exits.FINDINGS
    if any(each.blocked for each in found):
        return exits.INCOMPLETE
    nothing = all({each.reference, each.null} == {"not tested"} for each in found)
    return exits.UNDECIDED if nothing else exits.CLEAN
