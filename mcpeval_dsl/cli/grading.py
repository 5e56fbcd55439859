"""Command line, shared by run, score and replay: one trial's facts become verdicts, an outcome and leads."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TrialRecord

Finish = Callable[["TrialRecord", Path | None], Awaitable["TrialRecord"]]


def finisher(plan: Plan, context: RunContext) -> Finish:
    """Grades, looks for leads and decides the outcome; a pure function of the record but for judge, command and python."""
    from mcpeval_dsl.execute.environ import search_path
    from mcpeval_dsl.grade.run import grade_trial
    from mcpeval_dsl.grade.services import GradeServices
    from mcpeval_dsl.score.settle import settle

    tasks = {task.name: task for task in plan.tasks}
    settings = {model.name: (model.max_tokens, model.temperature) for model in plan.models}
    catalogues = {server.name: server.catalog for server in plan.servers if server.catalog}

    async def finish(record: TrialRecord, workdir: Path | None) -> TrialRecord:
        if record.not_applicable:
            return record
        services = GradeServices(
            project=context.spec_folder,
            workdir=workdir,
            judge=context.drivers.get,
            env={"PATH": search_path(), "LANG": "C.UTF-8", "HOME": os.environ.get("HOME", "/")},
            secrets=context.secrets,
            judge_settings=settings,
            catalogues=catalogues,
            wrap=None if workdir is None else context.sandbox.wrapping(workdir.parent, workdir),
        )
        task = tasks[record.task]
        verdicts = await grade_trial(task, record, services) if _had_an_agent(record) else ()
        return settle(record, verdicts, task, context.harvests.values())

    return finish


def _had_an_agent(record: TrialRecord) -> bool:
    """A trial that ended before its agent began has nothing to be graded."""
    return record.trouble is None or record.trouble.when != "before_agent"
