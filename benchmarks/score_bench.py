"""A scorecard of a million trials: reading them into the table, the scorecard from it, and what both hold in memory.

Run: `python benchmarks/score_bench.py [THOUSANDS]`. The peer is a loop over the same records that only reads their outcomes.
Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from figures import heading, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.gather import gather
from mcpeval_dsl.score.runs import compare_runs
from mcpeval_dsl.score.scorecard import build
from mcpeval_dsl.score.sides import Side
from mcpeval_dsl.semantics.model import Comparison
from tests.score.arms import armed
from tests.score.samples import task, trial

TRIALS, AGENTS = 50, ("a", "b", "c", "d", "e")


def planned(tasks: int) -> Plan:
    """Tasks with three tags in ten cells: five agents in two arms, compared by tag."""
    made = [task(f"t{n}", tags=(f"tag{n % 3}",)) for n in range(tasks)]
    return armed(made, AGENTS, [Comparison("lift", "mcp", "cli", ("tag",))], trials=TRIALS)


def records(plan: Plan) -> Iterator[TrialRecord]:
    """As a store gives them, in order of the plan; the share that passes goes by task and cell."""
    passed, failed = trial("t0@a/mcp", 1), trial("t0@a/mcp", 1, "no")
    cells = {cell.id: number for number, cell in enumerate(plan.cells)}
    for node in plan.nodes:
        if isinstance(node, TrialGroup):
            limit = (int(node.task[1:]) * 7 + cells[node.cell] * 3) % TRIALS
            for number in range(1, node.trials + 1):
                template = passed if number <= limit else failed
                yield template.model_copy(
                    update={"id": f"{node.id}#{number}", "task": node.task, "cell": node.cell, "cluster": node.task}
                )


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    thousands = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    heading(__file__)
    plan = planned(thousands * 1000 // (TRIALS * 2 * len(AGENTS)))
    started = time.process_time()
    right = sum(record.outcome is not None and record.outcome.success for record in records(plan))
    loop = time.process_time() - started
    before = memory_mb()
    started = time.process_time()
    found = gather(plan, records(plan))
    reading = time.process_time() - started - loop
    table = memory_mb() - before
    assert int(found.frame["success"].sum()) == right
    started = time.process_time()
    scored = build(plan, records(plan))
    whole = time.process_time() - started - loop
    side = Side("a", plan, found.frame, scored.scorecard.safety, ())
    started = time.process_time()
    compare_runs(side, side)
    compared = time.process_time() - started
    limit = thousands / 1000
    print(f"  {len(found.frame):,} trials, {len(plan.nodes):,} of a task in a cell; making the records {loop:.1f} s")
    results = [
        show("reading the records into the table", reading, "s", 120 * limit, ("the loop", loop)),
        show("the scorecard from the table", whole - reading, "s", 30 * limit),
        show("comparing two such runs", compared, "s", 30 * limit),
        show("memory of the table and the tallies", table, "MB", 700 * limit),
        show("memory at its highest", memory_mb(), "MB", 200 + 1500 * limit),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
