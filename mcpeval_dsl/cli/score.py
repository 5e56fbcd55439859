"""Command line: `mcpe score`, grades and scores a run again from its records, without running anything of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.semantics.model import Task

HELP = """Grade and score a run again, without running it. Without a name: the latest run.

Graders that start something or cost something (judge, command, python) are asked again only where their verdict is
missing, unless --again is given; they need trust, as a run does. --no-grade only reads.
With --spec the run takes over the graders and the gate that the spec has now; whatever else it says must be as it was.

Example: mcpe score --spec specs/tracker.mcpe
"""
_STARTING = frozenset({"judge", "command", "python"})


def command(
    run: Annotated[str, typer.Argument(help="Name of a run, the start of one, or its folder.")] = "",
    again: bool = typer.Option(False, "--again", help="Ask judges, commands and functions about every trial again."),
    grade: bool = typer.Option(True, "--grade/--no-grade", help="Grade again before scoring."),
    spec: str = typer.Option("", "--spec", help="Grade by what this spec says now."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import scoring, stored

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    found = stored.find_run(run or None)
    if found is None:
        raise typer.Exit(exits.SPEC)
    if spec:
        from mcpeval_dsl.cli.adopting import adopt

        found = adopt(found, spec)
        if found is None:
            raise typer.Exit(exits.SPEC)
        again = grade = True
    if grade:
        code = regrade(found, again, tuple(trust_file or ()))
        if code is not None:
            raise typer.Exit(code)
    code = scoring.show_scored(found, stored.texts(found), form)
    sys.stdout.flush()
    raise typer.Exit(code)


def regrade(run: StoredRun, again: bool, trust_files: tuple[str, ...]) -> int | None:
    """Replaces the gradings; the facts stay. An exit code when it could not."""
    import asyncio

    from mcpeval_dsl.cli import grading, trusting
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.stored import damaged
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.records.store import RunStore, open_run

    tasks = {task.name: task for task in run.plan.tasks}
    starting = any(starts_something(task) for task in tasks.values())
    if starting and not trusting.allowed(run.plan, run.root, trust_files):
        return exits.SPEC
    made = prepare.context_of(run.plan, run.reader.folder.path, operator.load(run.root))
    if made.value is None:
        show(made.diagnostics, {}, stream=sys.stderr)
        return exits.SPEC
    context = made.value
    context.harvests.update({record.id: record for record in run.reader.harvests()})
    opened = open_run(run.reader.folder.path, None, lambda value: context.redactor.value(value)[0])
    if opened.value is None:
        show(opened.diagnostics, {}, stream=sys.stderr)
        return exits.SPEC

    async def go(store: RunStore) -> None:
        finish = grading.finisher(run.plan, context)
        for record in store.reader.records():
            if starts_something(tasks[record.task]) and not again and is_graded(record):
                continue
            done = await finish(record, None)
            future = store.save_grading(record.key, done.verdicts, done.outcome, done.leads, done.grade_key)
            await asyncio.wrap_future(future)
        for driver in context.drivers.values():
            await driver.close()

    try:
        with opened.value as store:
            asyncio.run(go(store))
    except DamagedRecord as error:
        show([damaged(str(error))], {}, stream=sys.stderr)
        return exits.DISK
    return None


def starts_something(task: Task) -> bool:
    """Whether grading it asks a judge, runs a command or imports the project's code."""
    graders = [*task.graders, *(grader for inner in task.conditionals for grader in inner.graders)]
    while graders:
        grader = graders.pop()
        if grader.kind in _STARTING:
            return True
        graders.extend(grader.graders if grader.kind == "any" else ())
    return False


def is_graded(record: object) -> bool:
    """Every deciding verdict is there."""
    from mcpeval_dsl.records.model import TrialRecord

    assert isinstance(record, TrialRecord)
    return record.outcome is not None and not any(v.verdict == "missing" and v.deciding for v in record.verdicts)
