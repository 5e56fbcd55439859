"""Score: the exit code of a run. In order of precedence among those a finished run can have:

1 a gate failed on completed evidence; 3 incomplete (infrastructure, or not run to its end); 4 a gate is not decided, or
nothing testable was left; 0 passed. Infrastructure never gives 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.score.model import GateWord
from mcpeval_dsl.score.rows import Row

FAILED, INCOMPLETE, UNDECIDED, PASSED = 1, 3, 4, 0


def exit_code(gate: GateWord, rows: Sequence[Row]) -> int:
    if gate == "FAIL":
        return FAILED
    if any(not row.recorded or row.infrastructure for row in rows):
        return INCOMPLETE
    if gate == "NOT DECIDED" or not any(row.testable for row in rows):
        return UNDECIDED
    return PASSED
