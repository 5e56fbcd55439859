"""Command line, shared by run, score and replay: one trial's facts become verdicts, an outcome and leads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.cli.keeping import Kept
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.grade.services import JudgeSetting
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TrialRecord
    from mcpeval_dsl.semantics.model import Environment, Task
    from mcpeval_dsl.values.processes import Wrap

Finish = Callable[["TrialRecord", Path | None], Awaitable["TrialRecord"]]


def finisher(
    plan: Plan,
    context: RunContext,
    unbelieved: Mapping[JudgeSetting, str] | None = None,
    kept: Kept | None = None,
) -> Finish:
    """Grades, looks for leads and decides the outcome; a pure function of the record but for judge, command and python.

    `unbelieved` says which judges give no verdicts, and why; `kept` which verdicts of a trial stay as they are.
    """
    from mcpeval_dsl.execute.environ import search_path
    from mcpeval_dsl.grade.run import grade_trial
    from mcpeval_dsl.grade.services import GradeServices
    from mcpeval_dsl.score.settle import settle

    tasks = {task.name: task for task in plan.tasks}
    settings = {model.name: (model.max_tokens, model.temperature) for model in plan.models}
    catalogues = {server.name: server.catalog for server in plan.servers if server.catalog}

    environments = {environment.name: environment for environment in plan.environments}

    async def finish(record: TrialRecord, workdir: Path | None) -> TrialRecord:
        if record.not_applicable:
            return record
        task = tasks[record.task]
        async with _place(context, environments.get(task.environment or ""), task, workdir) as wrap:
            services = GradeServices(
                project=context.spec_folder,
                workdir=workdir,
                judge=context.drivers.get,
                env={"PATH": search_path(), "LANG": "C.UTF-8", "HOME": os.environ.get("HOME", "/")},
                secrets=context.secrets,
                judge_settings=settings,
                catalogues=catalogues,
                wrap=wrap,
                kept=kept(record) if kept is not None else None,
                unbelieved=unbelieved or {},
            )
            verdicts = await grade_trial(task, record, services) if _had_an_agent(record) else ()
        return settle(record, verdicts, task, context.harvests.values())

    return finish


@asynccontextmanager
async def _place(
    context: RunContext, environment: Environment | None, task: Task, workdir: Path | None
) -> AsyncIterator[Wrap | None]:
    """The sandbox of what graders start: the trial's folder as long as it stands, else an empty one. Nothing for others."""
    from mcpeval_dsl.execute.networking import granted
    from mcpeval_dsl.grade.starting import runs_code

    if not runs_code(task):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="mcpe-graders-") as empty:
        work = workdir
        if work is None:
            work = Path(empty) / "trial" / "work"
            work.mkdir(parents=True)
        async with granted(context.sandbox, environment, work.parent) as sandbox:
            yield sandbox.wrapping(work.parent, work)


def _had_an_agent(record: TrialRecord) -> bool:
    """A trial that ended before its agent began has nothing to be graded."""
    return record.trouble is None or record.trouble.when != "before_agent"
