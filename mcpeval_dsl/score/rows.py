"""Score: what of one trial the scorecard needs. `score.frame` keeps it for all of them, as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mcpeval_dsl.plan.model import TrialGroup
from mcpeval_dsl.records.model import CallCounts, OutcomeRecord, TrialRecord, VerdictRecord
from mcpeval_dsl.score.measures import Measures, measure
from mcpeval_dsl.semantics.expressions import AnyPattern
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.semantics.task_parts import expectations_of
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope

_NOTHING_COUNTED, _NOTHING_MEASURED = CallCounts(), Measures()
_NOT_INFRASTRUCTURE = frozenset({"harvest", "needs", "need", "schema_refused", "schema_refused_by_provider"})


@dataclass(frozen=True, slots=True)
class Row:
    """One planned trial. `recorded` False: not run yet. `called_server`: a call of the agent's reached an MCP server."""

    id: str
    number: int
    task: str
    instance: str
    cell: str
    split: str
    cluster: str
    tags: tuple[str, ...] = ()
    recorded: bool = False
    outcome: OutcomeRecord | None = None
    on_missing: bool = False
    infrastructure: bool = False
    success: bool = False
    correct: bool = False
    testable: bool = False
    charged: int = 0
    within_budgets: bool = True
    tokens: int = 0
    cost: float | None = None
    grading_cost: float | None = None
    user_cost: float | None = None
    """Of the model that played the user: None where none did, infinite where its price is not known."""
    agent_ms: float = 0.0
    latencies: tuple[float, ...] = ()
    turns: int = 0
    counts: CallCounts = _NOTHING_COUNTED
    measures: Measures = _NOTHING_MEASURED
    lesser_violations: bool = False
    critical: bool = False
    called_server: bool = False
    judged: int = 0
    judge_missing: int = 0

    @property
    def printed(self) -> str:
        if not self.recorded:
            return "not run"
        return self.outcome.printed if self.outcome is not None else "ungraded"


def instance_name(group: TrialGroup) -> str:
    """The task, with the key of its row where a loop made it."""
    key = group.row_key if group.row_key is not None else group.row
    return group.task if key is None else f"{group.task}[{key}]"


def filled(row: Row, record: TrialRecord, task: Task) -> Row:
    outcome = record.outcome
    testable = outcome is not None and outcome.counts_in_n
    passed = outcome is not None and outcome.outcome == "pass"
    critical = any(v.severity == "critical" for v in record.violations)
    budget = not record.budget.over and (outcome is None or outcome.outcome != "too_many_calls")
    return Row(
        id=row.id,
        number=row.number,
        task=row.task,
        instance=row.instance,
        cell=row.cell,
        tags=row.tags,
        recorded=True,
        cluster=record.cluster or row.cluster or task.cluster or task.name,
        split=record.split,
        outcome=outcome,
        on_missing=outcome is not None and "passed_on_missing_verdict" in outcome.flags,
        infrastructure=record.trouble is not None and record.trouble.kind not in _NOT_INFRASTRUCTURE and not testable,
        success=outcome is not None and outcome.success,
        correct=outcome is not None and bool(outcome.correct) and not critical,
        testable=testable,
        charged=record.counts.charged,
        within_budgets=budget,
        tokens=record.usage.input_tokens + record.usage.output_tokens,
        cost=record.usage.cost_usd,
        grading_cost=sum(judged)
        if (judged := [v.cost_usd for v in record.verdicts if v.cost_usd is not None])
        else None,
        user_cost=_user_cost(record),
        agent_ms=record.timing.agent_ms,
        latencies=tuple(
            c.duration_ms
            for c in record.calls
            if c.actor == "agent" and c.permission.decision == "allowed" and not c.fault
        ),
        turns=record.model_turns,
        counts=record.counts,
        called_server=any(c.actor == "agent" and c.permission.decision != "denied" for c in record.calls),
        measures=measure(record, expected_calls(task, record), passed, bool(task.faults)),
        lesser_violations=bool(record.violations) and not critical,
        critical=critical,
        judged=len(asked := [verdict for verdict in _every(record.verdicts) if verdict.kind == "judge"]),
        judge_missing=sum(verdict.verdict == "missing" for verdict in asked),
    )


def _user_cost(record: TrialRecord) -> float | None:
    if record.user is None or not record.user.model:
        return None
    usage = record.user.usage
    if usage.cost_usd is None:
        return math.inf if usage.input_tokens + usage.output_tokens else 0.0
    return usage.cost_usd


def _every(verdicts: Iterable[VerdictRecord]) -> Iterator[VerdictRecord]:
    for verdict in verdicts:
        yield verdict
        yield from _every(verdict.parts)


def expected_calls(task: Task, record: TrialRecord) -> tuple[AnyPattern, ...]:
    """The task's `expect`, with what stands under a `when` that held in this trial."""
    found = list(expectations_of(task))
    for conditional in task.conditionals:
        try:
            found += conditional.expect if condition(conditional.condition, Scope(record.scope)).holds else ()
        except EvaluationError:
            continue
    return tuple(found)


def cell_variables(cell: Cell) -> Mapping[str, object]:
    """Names that `where` and `when` may use for a cell."""
    values: dict[str, object] = {"model": cell.model, "host": cell.host, "arm": cell.arm, "server": cell.server}
    for entry in cell.parameters:
        literal = getattr(entry.value, "value", None)
        values[entry.key] = literal
    return values
