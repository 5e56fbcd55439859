"""Language server, in the background: how much a spec would run, and what that costs at most.

The ceilings are the plan's own, task by task; the digests, keys and nodes of a plan are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpeval_dsl.semantics.model import Host, Model, Task, TypedSuite

if TYPE_CHECKING:
    from mcpeval_dsl.plan.ceilings import Load
    from mcpeval_dsl.plan.topology import Topology


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one task, or of all: `instances` of `trials` each in `cells`; None is "nothing bounds it", and `why`."""

    instances: int
    cells: int
    trials: int
    calls: float | None
    cost: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class SuiteFigures:
    """`total` and `effect` are without the tasks held out, which run only when asked for.

    `effect` is the smallest difference in success between two cells that shows in 80 of 100 runs, a share; None for one
    cell, or where no difference can show.
    """

    total: Figures
    tasks: Mapping[str, Figures]
    effect: float | None
    heldout: frozenset[str] = frozenset()


def figures(suite: TypedSuite) -> SuiteFigures | None:
    """What a run of everything would be; None for a suite without trials."""
    from mcpeval_dsl.plan.ceilings import ceilings
    from mcpeval_dsl.plan.instances import instances
    from mcpeval_dsl.plan.prices import priced
    from mcpeval_dsl.plan.splits import assign
    from mcpeval_dsl.plan.topology import Topology

    if not suite.tasks or not suite.cells:
        return None
    suite = replace(suite, tasks=assign(suite), models=tuple(priced(m) for m in suite.models))
    topology = Topology(suite, None, {})
    found: dict[str, Figures] = {}
    everything: list[Load] = []
    for task in suite.tasks:
        rows = len(instances(task)[0])
        loads = _loads(topology, task, rows)
        everything += loads if task.split != "heldout" else []
        limits = ceilings(loads, topology.models)
        found[task.name] = Figures(
            rows, len(suite.cells), task.trials * rows * len(suite.cells), limits.calls.value, limits.cost_usd.value
        )
    limits = ceilings(everything, topology.models)
    heldout = frozenset(task.name for task in suite.tasks if task.split == "heldout")
    run = [each for name, each in found.items() if name not in heldout]
    total = Figures(
        sum(f.instances for f in run),
        len(suite.cells),
        sum(f.trials for f in run),
        limits.calls.value,
        limits.cost_usd.value,
        limits.cost_usd.reason,
    )
    return SuiteFigures(total, found, _effect(suite), heldout)


def _loads(topology: Topology, task: Task, rows: int) -> list[Load]:
    from mcpeval_dsl.plan.ceilings import Load
    from mcpeval_dsl.plan.parameters import in_cell

    loads = []
    for cell in topology.suite.cells:
        model = topology.models.get(cell.model) or Model(cell.model, "litellm", cell.model)
        host = topology.hosts.get(cell.host) or Host(cell.host)
        servers = tuple(topology.servers[s] for s in topology.visible(task, cell))
        loads.append(Load(in_cell(task, cell), model, host, servers, task.trials * rows))
    return loads


def _effect(suite: TypedSuite) -> float | None:
    """As `mcpe power` says it without a run: assumed variances, and six independent tasks at least."""
    if len(suite.cells) < 2:
        return None
    from mcpeval_dsl.statistics.paired import smallest_p
    from mcpeval_dsl.statistics.power import PLANNING_BETWEEN, PLANNING_WITHIN, detectable_effect

    tasks = [task for task in suite.tasks if task.split != "heldout"]
    independent = len({task.cluster or task.name for task in tasks})
    if not tasks or smallest_p(independent) > 0.05:
        return None
    trials = min(task.trials for task in tasks)
    within = (PLANNING_WITHIN, PLANNING_WITHIN)
    effect = detectable_effect(independent, PLANNING_BETWEEN, within, (trials, trials))
    return effect if effect <= 1 else None
