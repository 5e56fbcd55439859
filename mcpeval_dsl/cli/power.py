"""Command line: `mcpe power`, how many tasks an effect needs, and which effect so many tasks can show."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.score.planning import Variances

HELP = """Say how many tasks an effect needs, and which effect so many tasks can show. Nothing is run.

An effect is the difference in success between two versions, agents or arms on the same tasks, in points. With the name of
a run its variances are used, and how differently its cells do on the same tasks; without one, assumed ones. It says which
were measured. More tasks help more than more trials of the same tasks.

Example: mcpe power --effect 10 --trials 5
"""
_EFFECTS = (5.0, 10.0, 15.0, 20.0, 30.0)
_TASKS = (6, 10, 20, 50, 100, 200)

MOST = 10_000_000
"""Tasks, or trials of each: as many as one plan can have."""
LEAST_POINTS = 0.01


def command(
    run: Annotated[str, typer.Argument(help="A run to take the variances from.")] = "",
    effect: Annotated[str, typer.Option(help="Difference to show, in points: 10, or 10%.")] = "",
    tasks: Annotated[int | None, typer.Option(help="Number of tasks.", min=1, max=MOST)] = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials of each task; those of the run without it, else 5.", min=1, max=MOST)
    ] = None,
    alpha: Annotated[float, typer.Option(help="Chance of seeing a difference where there is none.")] = 0.05,
    power: Annotated[float, typer.Option(help="Chance of seeing one that is there.")] = 0.8,
    between: Annotated[
        float, typer.Option(help="Variance between tasks of the difference, instead of the run's.", show_default=False)
    ] = -1.0,
    within: Annotated[
        float, typer.Option(help="Variance of one trial within a task, instead of the run's.", show_default=False)
    ] = -1.0,
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    for name, share in (("alpha", alpha), ("power", power)):
        if not 0 < share < 1:
            raise typer.BadParameter(f"--{name} lies between 0 and 1, not {share:g}")
    for name, variance in (("between", between), ("within", within)):
        if not variance <= 1:
            raise typer.BadParameter(f"--{name} is a variance of shares, at most 1, not {variance:g}")
    points = _points(effect)
    answers = []
    for cells, variances in _variances(run):
        used = _with(variances, between, within)
        answers.append(_answer(cells, used, points, tasks or 0, trials or used.trials or 5, alpha, power))
    if form == "json":
        from mcpeval_dsl.cli.versions import first_line

        print(first_line("power"))
        for answer in answers:
            print(json.dumps({"type": "power", **answer}, ensure_ascii=False))
    else:
        print("\n".join(line for answer in answers for line in _text(answer)))
    sys.stdout.flush()


def _points(effect: str) -> float | None:
    if not effect:
        return None
    try:
        value = float(effect.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not LEAST_POINTS <= value <= 100:
        raise typer.BadParameter(f"--effect is a number of points from {LEAST_POINTS:g} to 100, not `{effect}`")
    return value


def _variances(run: str) -> list[tuple[tuple[str, ...], Variances]]:
    from mcpeval_dsl.score.planning import ASSUMED, of_cells

    if not run:
        return [((), ASSUMED)]
    from mcpeval_dsl.cli import stored
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.sides import side_of
    from mcpeval_dsl.records.codec import DamagedRecord

    found = stored.find_run(run)
    if found is None:
        raise typer.Exit(exits.SPEC)
    try:
        cells = of_cells(side_of(found).frame)
    except DamagedRecord as error:
        show([stored.damaged(str(error))], {}, stream=sys.stderr)
        raise typer.Exit(exits.DISK) from None
    if not cells:
        print(f"error: no cell of {found.name} has two tasks that could be tested", file=sys.stderr)
        raise typer.Exit(exits.UNDECIDED)
    return cells


def _with(found: Variances, between: float, within: float) -> Variances:
    from dataclasses import replace

    if between < 0 and within < 0:
        return found
    return replace(
        found,
        between=found.between if between < 0 else between,
        within=found.within if within < 0 else within,
        source="as given" if between >= 0 and within >= 0 else f"partly as given; else {found.source}",
    )


def _answer(
    cells: tuple[str, ...], used: Variances, points: float | None, tasks: int, trials: int, alpha: float, power: float
) -> dict[str, Any]:
    from mcpeval_dsl.statistics.power import detectable_effect, tasks_needed

    each, repeats = (used.within, used.within), (trials, trials)
    counts = (tasks,) if tasks else tuple(sorted({*_TASKS, used.tasks} - {0}))
    return {
        "cell": ", ".join(cells),
        "cells": list(cells),
        "alpha": alpha,
        "power": power,
        "trials": trials,
        "between": used.between,
        "within": used.within,
        "correlation": used.correlation,
        "source": used.source,
        "tasks_for_effect": []
        if tasks and points is None
        else [
            {"points": p, "tasks": _tasks(tasks_needed(p / 100, used.between, each, repeats, alpha, power), alpha)}
            for p in ((points,) if points is not None else _EFFECTS)
        ],
        "effect_for_tasks": []
        if points is not None and not tasks
        else [
            {"tasks": n, "points": _effect(n, detectable_effect(n, used.between, each, repeats, alpha, power), alpha)}
            for n in counts
        ],
    }


def _tasks(needed: float, alpha: float) -> int:
    """At least as many as a sign-flip test needs to fall below alpha at all."""
    return max(math.ceil(needed - 1e-9), _fewest(alpha))


def _effect(tasks: int, share: float, alpha: float) -> float | None:
    """None where no difference at all can be shown."""
    return None if tasks < _fewest(alpha) or share > 1 else share * 100


def _fewest(alpha: float) -> int:
    return 1 + math.ceil(-math.log2(alpha))


def _text(answer: dict[str, Any]) -> Iterator[str]:
    where = f"{answer['cell']}: " if answer["cell"] else ""
    trials = f"{answer['trials']} trial{'' if answer['trials'] == 1 else 's'} of each task"
    yield f"{where}{trials}, alpha {answer['alpha']:g}, power {answer['power']:g}"
    yield f"  variances: between tasks {answer['between']:.3f}, within {answer['within']:.3f}"
    yield f"  {answer['source']}"
    for row in answer["tasks_for_effect"]:
        yield f"  to show {row['points']:g} points: {row['tasks']} tasks"
    for row in answer["effect_for_tasks"]:
        said = "no difference at all" if row["points"] is None else f"{row['points']:.1f} points and more"
        yield f"  {row['tasks']} task{'' if row['tasks'] == 1 else 's'} show {said}"
