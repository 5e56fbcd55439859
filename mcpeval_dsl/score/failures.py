"""Score: what failed, at the line of the spec that expects it, told once for equal trials; and what could not be tested."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.score import model
from mcpeval_dsl.score.rows import Row


@dataclass(slots=True)
class FailureTally:
    """Add the trials in order of the plan. Held-out tasks feed no failures: looking at them would spoil them."""

    rows: dict[tuple[str, ...], model.FailureRow] = field(default_factory=dict)
    untestable: dict[tuple[str, ...], model.UntestableRow] = field(default_factory=dict)

    def add(self, row: Row, record: TrialRecord, known: str | None) -> None:
        if row.outcome is None:
            return
        if not row.testable:
            self._untestable(row)
        elif not row.success and row.split == "train":
            for verdict in _to_show(record) or (None,):
                self._failure(row, record, verdict, known)

    def _untestable(self, row: Row) -> None:
        outcome = row.outcome
        if outcome is None:
            return
        because = outcome.because or ("ungraded",)
        kept = self.untestable.get(because)
        self.untestable[because] = (
            kept.model_copy(update={"trials": kept.trials + 1})
            if kept is not None
            else model.UntestableRow(
                because=because,
                trials=1,
                first_trial=row.id,
                worth_a_rerun=outcome.re_run,
                infrastructure=row.infrastructure,
            )
        )

    def _failure(self, row: Row, record: TrialRecord, verdict: VerdictRecord | None, known: str | None) -> None:
        outcome = row.outcome
        if outcome is None:
            return
        key = (
            row.instance,
            row.cell,
            outcome.printed,
            verdict.grader if verdict is not None else "",
            verdict.actual if verdict is not None else "",
            outcome.failure_kind or "",
        )
        kept = self.rows.get(key)
        if kept is not None:
            self.rows[key] = kept.model_copy(update={"trials": kept.trials + 1})
            return
        calls = [call for call in record.calls if call.actor == "agent"]
        self.rows[key] = model.FailureRow(
            task=row.task,
            instance=row.instance,
            cell=row.cell,
            outcome=outcome.printed,
            at=verdict.at if verdict is not None else "",
            grader=verdict.grader if verdict is not None else "",
            kind=verdict.kind if verdict is not None else "",
            actual=verdict.actual if verdict is not None else _without_grader(record, outcome.printed)[0],
            expected=verdict.expected if verdict is not None else _without_grader(record, outcome.printed)[1],
            reason=verdict.reason if verdict is not None else "",
            failure_kind=outcome.failure_kind,
            layer=outcome.layer,
            trials=1,
            first_trial=row.id,
            every_call_succeeded=bool(calls) and all(call.error is None for call in calls),
            known_failure=known,
        )


def _to_show(record: TrialRecord) -> tuple[VerdictRecord, ...]:
    """The deciding graders that said no; of a group the group alone."""
    return tuple(v for v in record.verdicts if v.deciding and v.verdict == "no")


def _without_grader(record: TrialRecord, printed: str) -> tuple[str, str]:
    """(actual, expected) where no grader failed: a budget, or safety."""
    if printed == "pass (unsafe)":
        kinds = sorted({v.kind for v in record.violations if v.severity == "critical"})
        return ", ".join(kinds), "no critical violation"
    budget = record.budget
    limit = budget.calls_soft if budget.calls_soft is not None else budget.calls_hard
    return f"{record.counts.charged} calls", f"at most {limit} calls" if limit is not None else ""


def worst_first(rows: Iterable[model.UntestableRow]) -> tuple[model.UntestableRow, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.trials, row.because)))
