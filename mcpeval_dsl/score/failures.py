"""Score: what failed, at the line of the spec that expects it, told once for equal trials; and what could not be tested."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mcpeval_dsl.records.model import OutcomeRecord, TrialRecord, VerdictRecord
from mcpeval_dsl.score import model
from mcpeval_dsl.score.alike import Alike
from mcpeval_dsl.score.rows import Row
from mcpeval_dsl.score.said import Failing


@dataclass(slots=True)
class FailureTally:
    """Add the trials in order of the plan. Held-out tasks feed no failures: looking at them would spoil them."""

    rows: dict[tuple[str, ...], model.FailureRow] = field(default_factory=dict)
    untestable: dict[tuple[str, ...], model.UntestableRow] = field(default_factory=dict)

    def add(self, alike: Alike, outcome: OutcomeRecord, known: str | None) -> None:
        if not alike.said.testable:
            self._untestable(alike, outcome)
        for failing in alike.said.failing:
            self._failure(alike, outcome, failing, known)

    def _untestable(self, alike: Alike, outcome: OutcomeRecord) -> None:
        because = outcome.because or ("ungraded",)
        kept = self.untestable.get(because)
        self.untestable[because] = (
            kept.model_copy(update={"trials": kept.trials + len(alike)})
            if kept is not None
            else model.UntestableRow(
                because=because,
                trials=len(alike),
                first_trial=alike.first,
                worth_a_rerun=outcome.re_run,
                infrastructure=alike.said.infrastructure,
            )
        )

    def _failure(self, alike: Alike, outcome: OutcomeRecord, failing: Failing, known: str | None) -> None:
        group = alike.group
        told = failing.actual if failing.grader else ""
        key = (group.instance, group.cell, outcome.printed, failing.grader, told, outcome.failure_kind or "")
        kept = self.rows.get(key)
        if kept is not None:
            self.rows[key] = kept.model_copy(update={"trials": kept.trials + len(alike)})
            return
        self.rows[key] = model.FailureRow(
            task=group.task,
            instance=group.instance,
            cell=group.cell,
            outcome=outcome.printed,
            at=failing.at,
            grader=failing.grader,
            kind=failing.kind,
            actual=failing.actual,
            expected=failing.expected,
            reason=failing.reason,
            failure_kind=outcome.failure_kind,
            layer=outcome.layer,
            trials=len(alike),
            first_trial=alike.first,
            every_call_succeeded=alike.said.every_call_succeeded,
            known_failure=known,
        )


def failing_of(row: Row, record: TrialRecord) -> tuple[Failing, ...]:
    """What said no in a testable trial that did not pass, or what stands in its place; nothing of a held-out task."""
    if row.outcome is None or not row.testable or row.success or row.split != "train":
        return ()
    found = tuple(
        Failing(grader=v.grader, kind=v.kind, at=v.at, actual=v.actual, expected=v.expected, reason=v.reason)
        for v in _to_show(record)
    )
    if found:
        return found
    actual, expected = _without_grader(record, row.outcome.printed)
    return (Failing(actual=actual, expected=expected),)


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
