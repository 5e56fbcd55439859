"""Score: the exit code of a run. In order of precedence among those a finished run can have:

1 a gate failed on completed evidence; 3 incomplete (infrastructure, or not run to its end); 4 a gate is not decided, or
nothing testable was left; 0 passed. Infrastructure never gives 1.
"""

from __future__ import annotations

from mcpeval_dsl.score.frame import Frame
from mcpeval_dsl.score.model import GateWord

FAILED, INCOMPLETE, UNDECIDED, PASSED = 1, 3, 4, 0


def exit_code(gate: GateWord, trials: Frame, unchecked: int = 0) -> int:
    """`unchecked`: lines of checks that could not be tested."""
    if gate == "FAIL":
        return FAILED
    if unchecked or not trials["recorded"].all() or trials["infrastructure"].any():
        return INCOMPLETE
    if gate == "NOT DECIDED" or (len(trials) and not trials["testable"].any()):
        return UNDECIDED
    return PASSED
