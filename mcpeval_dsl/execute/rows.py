"""Which row of a loop a trial stands for: known from a table, or found among harvested values at run time."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.plan.model import TrialGroup
from mcpeval_dsl.semantics.model import Loop
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import Scope


def row_of(loop: Loop, group: TrialGroup, scope: Scope) -> tuple[Any] | None:
    """The row in a 1-tuple; None where there are fewer rows: then the trial is not applicable. Raises EvaluationError."""
    if group.row_value is not None:
        return (evaluate(group.row_value, scope),)
    rows = evaluate(loop.over, scope)
    wanted = group.row or 0
    seen = 0
    for row in rows if isinstance(rows, list) else []:
        if loop.where is not None and not condition(loop.where, extended(scope, **{loop.variable: row})).holds:
            continue
        if seen == wanted:
            return (row,)
        seen += 1
    return None
