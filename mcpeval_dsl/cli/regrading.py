"""Command line, behind `mcpe score`: all trials of a run graded again from their records.

What only reads needs no trust, opens no model and looks at no variable of the environment; judges, commands and the
project's functions do, and are asked again only where it was wished for or their verdict is missing.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.agents.model import Driver
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TrialRecord
    from mcpeval_dsl.records.store import RunStore


def regrade(run: StoredRun, again: bool, trust_files: tuple[str, ...], before: Plan | None = None) -> int | None:
    """Replaces the gradings; the facts stay. An exit code when it could not.

    `before` is the plan that the run was graded by: what a judge, a command or a function said stays where it asks the same.
    """
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.cli.stored import code, damaged
    from mcpeval_dsl.grade.starting import starts_something
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.records.store import open_run
    from mcpeval_dsl.score.digest import Digester

    starting = any(starts_something(task) for task in run.plan.tasks)
    if starting and not trusting.allowed(run.plan, run.root, trust_files, grading=True):
        return exits.SPEC
    context = _with_judges(run) if starting else _reading_only(run)
    if context is None:
        return exits.SPEC
    context.harvests.update({record.id: record for record in run.reader.harvests()})
    redactor = context.redactor
    digester = Digester(run.plan, code())
    opened = open_run(run.reader.folder.path, None, lambda value: redactor.value(value)[0], digester)
    if opened.value is None:
        show(opened.diagnostics, {}, stream=sys.stderr)
        return exits.SPEC
    try:
        with opened.value as store:
            asyncio.run(_grade_all(run, context, store, again, before))
    except DamagedRecord as error:
        show([damaged(str(error))], {}, stream=sys.stderr)
        return exits.DISK
    return None


async def _grade_all(run: StoredRun, context: RunContext, store: RunStore, again: bool, before: Plan | None) -> None:
    from mcpeval_dsl.cli import calibrating, grading
    from mcpeval_dsl.cli.keeping import kept_by
    from mcpeval_dsl.cli.stored import code
    from mcpeval_dsl.grade.starting import starts_something

    tasks = {task.name: task for task in run.plan.tasks}
    unbelieved = await calibrating.measure(run.plan, context, store)
    finish = grading.finisher(run.plan, context, unbelieved, kept_by(before, run.plan) if before is not None else None)
    keys = {node.id: node.grade_key for node in run.plan.nodes if node.kind == "trial"}
    reader = store.reader
    due = list(reader.trial_keys().values()) if again else reader.outdated(code())
    for record in (found.record() for found in reader.wholes(due)):
        if starts_something(tasks[record.task]) and not again and is_graded(record):
            continue
        if before is not None:
            record = record.model_copy(update={"grade_key": keys[record.id.rpartition("#")[0]]})
        done = await finish(record, None)
        future = store.save_grading(record.key, done.verdicts, done.outcome, done.leads, done.grade_key, done.arguments)
        await asyncio.wrap_future(future)
    for driver in context.drivers.values():
        await driver.close()


def _reading_only(run: StoredRun) -> RunContext:
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.gateway.redact import Redactor

    spec_folder = (run.root / run.plan.suite.spec).parent.resolve()
    settings = RunSettings(run.root)
    return RunContext(run.plan, run.reader.folder.path, spec_folder, settings, Redactor({}), drivers={})


def _with_judges(run: StoredRun) -> RunContext | None:
    """Opens the judges' models and no agent's; None after saying which cannot be used."""
    from mcpeval_dsl.agents.drivers.registry import open_driver
    from mcpeval_dsl.agents.drivers.settings import DriverUnavailable
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.gateway.redact import Redactor

    try:
        settings = operator.load(run.root)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return None
    wanted = set(prepare.judges(run.plan))
    drivers: dict[str, Driver] = {}
    problems: list[Diagnostic] = []
    for model in run.plan.models:
        if model.name in wanted:
            try:
                drivers[model.name] = open_driver(model, prepare.driver_settings(model, run.plan, settings))
            except DriverUnavailable as error:
                problems.append(
                    Diagnostic("MCPE503", f"model `{model.name}` cannot be used", model.at, body=error.reason)
                )
    if problems:
        show(problems, {}, stream=sys.stderr)
        return None
    secrets = {name: value for name in prepare.secret_names(run.plan) if (value := os.environ.get(name)) is not None}
    keys = {f"key of {name}": given.api_key for name, given in settings.providers.items() if given.api_key}
    spec_folder = (run.root / run.plan.suite.spec).parent.resolve()
    redactor = Redactor({**secrets, **keys})
    return RunContext(run.plan, run.reader.folder.path, spec_folder, settings, redactor, drivers, secrets=secrets)


def is_graded(record: TrialRecord) -> bool:
    """Every deciding verdict is there."""
    return record.outcome is not None and not any(v.verdict == "missing" and v.deciding for v in record.verdicts)
