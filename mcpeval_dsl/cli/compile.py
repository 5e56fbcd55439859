"""Command line: `mcpe compile`, specs to a plan, and what a run of it would cost. Reads files and starts nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Ceiling, Plan

HELP = """Compile specs into a plan, and say what a run would cost. Nothing is started.

Example: mcpe compile specs/tracker.mcpe --select "tag:search cell:canned"
"""
SELECT = "What to take: task:NAME, tag:, cell:, split:, model:, kind: … or a name; globs; +x and x+; commas intersect."


def command(
    spec: Annotated[
        list[str] | None, typer.Argument(help="Specs or folders; without any, those of the project.")
    ] = None,
    output: str = typer.Option("", "--output", "-o", help="Where to write the plan; - is standard output."),
    select: Annotated[list[str] | None, typer.Option("--select", "-s", help=SELECT)] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="What to leave out, in the same words.")
    ] = None,
    heldout: bool = typer.Option(False, "--heldout", help="Take held-out tasks in as well."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    specs = loading.load(spec or [])
    loading.read_scripts(specs)
    plans = _plans(specs, select or [], exclude or [], heldout)
    problems: Literal["json", "text"] = "json" if form == "json" else "text"
    if plans is None:
        show(specs.diagnostics, specs.sources, problems, sys.stdout if form == "json" else sys.stderr)
        raise typer.Exit(exits.SPEC)
    if specs.diagnostics:
        show(specs.diagnostics, specs.sources, problems, sys.stderr)
    assert specs.project is not None
    where = _write(plans, output, specs.project.root)
    if output == "-":
        return
    from mcpeval_dsl.diagnostics.render.safe import visible

    print("\n".join(_lines(plans, where) if form == "json" else map(visible, _text(plans, where))))


def _plans(specs: Any, select: list[str], exclude: list[str], heldout: bool) -> list[Plan] | None:
    """None where anything is wrong: a plan is written whole or not at all."""
    from mcpeval_dsl.cli import specs as loading

    if specs.failed or not specs.suites:
        return None
    from mcpeval_dsl.plan.model import Selection

    plans = loading.plan(specs, Selection(select=tuple(select), exclude=tuple(exclude), heldout=heldout), trials=True)
    return None if specs.failed or not plans else plans


def _write(plans: list[Plan], output: str, root: Path) -> str:
    """Writes whole or not at all; returns the path as it is shown."""
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.project.files import PLAN_PATH
    from mcpeval_dsl.project.writing import put

    data = files.write(plans)
    if output == "-":
        sys.stdout.write(data.decode("utf-8"))
        return "-"
    path = Path(output) if output else root / PLAN_PATH
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, data)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError, FileExistsError) as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from error
    return os.path.relpath(path)


def _text(plans: list[Plan], where: str) -> Iterator[str]:
    for plan in plans:
        yield from _suite(plan)
    yield f"plan written to {where}"


def _suite(plan: Plan) -> Iterator[str]:
    counts = plan.counts
    yield f"suite {plan.suite.name}  {plan.suite.spec}"
    held = f" ({_number(counts.heldout_left_out, 'held-out task')} left out)" if counts.heldout_left_out else ""
    rows = f" in {counts.instances} instances" if counts.instances != counts.tasks else ""
    yield f"  tasks     {counts.tasks}{rows}{held}"
    yield f"  cells     {counts.cells}"
    yield f"  trials    {counts.trials:,}"
    yield f"  before    {_number(counts.connects, 'server')} to connect, {_number(counts.harvests, 'harvest')} to read"
    if plan.calibrations:
        from mcpeval_dsl.grade.calibration import questions

        yield f"  judges    {_number(len(questions(plan)), 'question')} about labelled answers"
    if counts.checks:
        yield f"  checks    {counts.checks}"
    ceilings = plan.ceilings
    yield f"  calls     {_ceiling(ceilings.calls, lambda v: f'{v:,.0f}')}"
    unpaid = ceilings.tokens.value == 0
    yield f"  tokens    {'none (scripted)' if unpaid else _ceiling(ceilings.tokens, lambda v: f'{v:,.0f}')}"
    yield f"  cost      {_ceiling(ceilings.cost_usd, _dollars)}"
    yield f"  time      {_ceiling(ceilings.seconds, _duration)}"
    yield f"  longest   {' → '.join(plan.critical_path)}"
    for construct in plan.unsupported:
        place = f" at {construct.at}" if construct.at is not None else ""
        yield f"  not yet   {construct.construct}{place}: checked, but refused by `mcpe run`"


def _ceiling(ceiling: Ceiling, show: Any) -> str:
    if ceiling.value is None:
        return f"no ceiling: {ceiling.reason}"
    return f"at most {show(ceiling.value)}" + (f" ({ceiling.reason})" if ceiling.reason else "")


def _dollars(value: float) -> str:
    return f"${value:,.2f}" if value >= 0.01 or value == 0 else f"${value:.4f}"


def _duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 90:
        return f"{seconds:g} s of trials"
    return (f"{hours} h {minutes} min" if hours else f"{minutes} min") + " of trials, one after another"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _lines(plans: list[Plan], where: str) -> Iterator[str]:
    yield json.dumps({"type": "version", "format": "mcpe.compile", "version": 1})
    for plan in plans:
        line = {
            "type": "suite",
            "name": plan.suite.name,
            "spec": plan.suite.spec,
            "key": plan.key,
            "counts": plan.counts.model_dump(),
            "ceilings": plan.ceilings.model_dump(),
            "critical_path": list(plan.critical_path),
            "unsupported": [{"construct": u.construct, "at": u.at and str(u.at)} for u in plan.unsupported],
            "warnings": [{"code": w.code, "title": w.title, "at": w.at and str(w.at)} for w in plan.warnings],
        }
        yield json.dumps(line, ensure_ascii=False)
    yield json.dumps({"type": "plan", "path": where, "suites": len(plans)})
