"""Score: failures that the spec knows of. They stay in every rate; one that passes, or outstays its date, fails the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.frame import Frame
from mcpeval_dsl.score.rows import cell_variables
from mcpeval_dsl.score.said import Known
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope


@dataclass(slots=True)
class KnownTally:
    """By (instance, cell): the reason, and what outstayed its date. Add every trial."""

    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    outstayed: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, instance: str, cell: str, known: Known | None) -> str | None:
        """The reason, where one applies."""
        if known is None:
            return None
        if known.outstayed:
            self.outstayed.setdefault((instance, cell), known.outstayed)
        return self.reasons.setdefault((instance, cell), known.reason)

    def problems(self, rows: Sequence[tuple[str, str, bool]]) -> list[str]:
        """Sentences for the gate; `rows` are (instance, cell, stale)."""
        found = []
        for instance, cell, stale in rows:
            until = self.outstayed.get((instance, cell))
            if stale:
                found.append(f"known failure of {instance} in {cell} passes now: remove `known_failure`")
            elif until is not None:
                found.append(
                    f"known failure of {instance} in {cell} was to stay until {until}: mend it, or move the date"
                )
        return found


def known_of(record: TrialRecord, task: Task, cell: Cell) -> Known | None:
    """The first `known_failure` that applies to this trial; its `when` may read the cell and the harvests."""
    if not task.known_failures:
        return None
    scope = Scope({**record.scope, **cell_variables(cell)})
    for known in task.known_failures:
        try:
            applies = known.when is None or condition(known.when, scope).holds
        except EvaluationError:
            continue
        if applies:
            over = known.until is not None and record.timing.started_at[:10] > known.until
            return Known(reason=known.reason, outstayed=(known.until or "") if over else "")
    return None


def is_stale(trials: Frame) -> bool:
    """Every testable trial of an instance passed, and not by a judge's word alone that decides no gate."""
    testable = trials["testable"]
    if trials["on_judge"].any():
        return False
    return bool(testable.any() and trials["success"][testable].all())
