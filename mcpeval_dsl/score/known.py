"""Score: failures that the spec knows of. They stay in every rate; one that passes is stale and fails the gate."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score.rows import Row, cell_variables
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope


def known_failures(plan: Plan) -> dict[tuple[str, str], str]:
    """(task, cell) -> reason, where a `known_failure` applies."""
    found: dict[tuple[str, str], str] = {}
    for task in plan.tasks:
        for known in task.known_failures:
            for cell in plan.cells:
                try:
                    applies = known.when is None or condition(known.when, Scope(cell_variables(cell))).holds
                except EvaluationError:
                    continue
                if applies:
                    found.setdefault((task.name, cell.id), known.reason)
    return found


def is_stale(rows: Sequence[Row]) -> bool:
    """Every testable trial of an instance passed."""
    testable = [row for row in rows if row.testable]
    return bool(testable) and all(row.success for row in testable)
