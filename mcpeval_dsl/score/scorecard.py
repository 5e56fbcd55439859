"""Score, last step: from the plan and the graded records of a run to its scorecard.

Every number comes from the records, none from what a session counted, so an interrupted and continued run has the same
scorecard, to the byte, as one that was never stopped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, TrialRecord
from mcpeval_dsl.score import model, rates
from mcpeval_dsl.score.dimensions import total
from mcpeval_dsl.score.exit import exit_code
from mcpeval_dsl.score.failures import FailureTally, worst_first
from mcpeval_dsl.score.findings import FindingTally
from mcpeval_dsl.score.gates import INCONCLUSIVE_SHARE, judge
from mcpeval_dsl.score.known import KnownTally, is_stale
from mcpeval_dsl.score.lowered import lowered
from mcpeval_dsl.score.metrics import Context
from mcpeval_dsl.score.rows import Row, filled, planned
from mcpeval_dsl.score.safety import SafetyTally
from mcpeval_dsl.score.suspicions import LeadTally
from mcpeval_dsl.score.timings import CellTiming, TimeOverhead, timing
from mcpeval_dsl.semantics.model import Cell
from mcpeval_dsl.statistics.intervals import clopper_pearson

_KS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Scored:
    scorecard: model.Scorecard
    timings: tuple[CellTiming, ...]
    overheads: tuple[TimeOverhead, ...] = ()


@dataclass(slots=True)
class _Tallies:
    safety: SafetyTally = field(default_factory=SafetyTally)
    leads: LeadTally = field(default_factory=LeadTally)
    failures: FailureTally = field(default_factory=FailureTally)
    findings: FindingTally = field(default_factory=FindingTally)
    known: KnownTally = field(default_factory=KnownTally)
    sandboxes: set[str] = field(default_factory=set)


def build(
    plan: Plan,
    records: Iterable[TrialRecord],
    connects: Sequence[ConnectRecord] = (),
    harvests: Sequence[HarvestRecord] = (),
    superseded: Iterable[TrialRecord] = (),
    defects: Iterable[DefectRecord] = (),
) -> Scored:
    """The scorecard of a run. `records` come in order of the plan, each once (as the store gives them), graded.

    `superseded` are attempts that a re-run replaced; only their violations count. `defects` are replayed leads.
    Raises ValueError for records that the plan does not have, or out of order.
    """
    rows = {row.id: row for row in planned(plan)}
    rank = {id_: number for number, id_ in enumerate(rows)}
    tallies = _Tallies(leads=LeadTally({defect.id: defect for defect in defects}))
    _take_records(plan, records, harvests, rows, rank, tallies)
    for record in superseded:
        if record.id in rows:
            tallies.safety.add(record, rows[record.id].instance, rank[record.id])
    for harvest in sorted(harvests, key=lambda h: h.id):
        tallies.leads.add_harvest(harvest)
    tallies.findings.add_connects(sorted(connects, key=lambda c: c.id))
    return _card(plan, list(rows.values()), tallies)


def to_bytes(card: model.Scorecard) -> bytes:
    """The published JSON; equal scorecards give equal bytes."""
    text = json.dumps(card.model_dump(mode="json"), ensure_ascii=False, indent=1, sort_keys=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def _take_records(
    plan: Plan,
    records: Iterable[TrialRecord],
    harvests: Sequence[HarvestRecord],
    rows: dict[str, Row],
    rank: Mapping[str, int],
    tallies: _Tallies,
) -> None:
    tasks = {task.name: task for task in plan.tasks}
    cells = {cell.id: cell for cell in plan.cells}
    read = {call.id: call for harvest in harvests for call in harvest.calls}
    last = -1
    for record in records:
        if record.not_applicable:
            rows.pop(record.id, None)
            continue
        if record.id not in rows or rank[record.id] <= last:
            raise ValueError(f"record {record.id} is not the plan's next")
        last = rank[record.id]
        row = rows[record.id] = filled(rows[record.id], record, tasks[record.task])
        used: list[CallRecord] = [read[id_] for id_ in record.harvested.values() if id_ in read]
        tallies.safety.add(record, row.instance, last)
        tallies.leads.add(record, used)
        reason = tallies.known.add(row, record, tasks[record.task], cells[row.cell])
        tallies.failures.add(row, record, reason)
        tallies.findings.add(row, record)
        tallies.sandboxes.add(record.sandbox)


def _card(plan: Plan, rows: list[Row], tallies: _Tallies) -> Scored:
    known = tallies.known.reasons
    tallies.findings.add_tasks(rows)
    safety, leads = tallies.safety.result(), tallies.leads.result()
    segments = _grouped(rows)
    task_rows = tuple(row for group in _instances(rows).values() for row in (_task_row(group, known),))
    stale = tallies.known.problems([(row.instance, row.cell, row.stale) for row in task_rows])
    gate = judge(plan, rows, Context(safety, leads), stale)
    cells = {cell.id: cell for cell in plan.cells}
    card = model.Scorecard(
        suite=plan.suite.name,
        title=plan.suite.title,
        spec=plan.suite.spec,
        plan_key=plan.key,
        harness=plan.harness,
        sandbox=tuple(sorted(tallies.sandboxes)),
        tasks=len({row.instance for row in rows}),
        planned=len(rows),
        recorded=sum(row.recorded for row in rows),
        complete=all(row.recorded and not row.infrastructure for row in rows),
        gate=gate,
        cells=tuple(_cell(plan, cells[cell], split, group) for (cell, split), group in segments.items()),
        rows=task_rows,
        safety=safety,
        lowered=lowered(plan),
        leads=leads,
        failures=tuple(tallies.failures.rows.values()),
        untestable=worst_first(tallies.failures.untestable.values()),
        findings=tallies.findings.result(),
        exit_code=exit_code(gate.word, rows),
    )
    return Scored(card, tuple(timing(cell, split, group) for (cell, split), group in segments.items()))


def _grouped(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """By cell and split, in order of the plan, train before held-out."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.cell, row.split), []).append(row)
    order = {cell: number for number, cell in enumerate(dict.fromkeys(row.cell for row in rows))}
    return dict(sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1] != "train")))


def _instances(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.instance, row.cell), []).append(row)
    return found


def _cell(plan: Plan, cell: Cell, split: str, rows: list[Row]) -> model.CellScore:
    success = rates.rate(rows, lambda row: row.success)
    counts, tools = rates.counts(rows), rates.measures(rows)
    trials = max((row.number for row in rows), default=1)
    ks = sorted({k for k in (*_KS, trials) if k <= trials})
    hats = tuple(rates.at_k(rows, k, every=True) for k in ks)
    testable = [row for row in rows if row.testable]
    costs = [row.cost for row in testable]
    judged = [row.grading_cost for row in rows if row.grading_cost is not None]
    missing = counts.untestable + counts.not_run
    return model.CellScore(
        cell=cell.id,
        split=split,
        model=cell.model,
        host=cell.host,
        arm=cell.arm,
        server=cell.server,
        counts=counts,
        inconclusive=missing > INCONCLUSIVE_SHARE * len(rows),
        success=success,
        correct=rates.rate(rows, lambda row: row.correct),
        on_missing_verdicts=sum(row.on_missing for row in testable),
        pass_at=tuple(rates.at_k(rows, k, every=False) for k in ks),
        pass_hat=hats,
        tools=tools,
        calls=rates.spread_of(float(row.charged) for row in testable),
        errors=rates.errors(rows),
        tokens=rates.spread_of(float(row.tokens) for row in testable),
        cost_usd=None if None in costs else rates.spread_of(cost for cost in costs if cost is not None),
        grading_cost_usd=math.fsum(judged) if judged else None,
        saturated=bool(testable)
        and len(testable) == len(rows)
        and all(row.success and not row.on_missing for row in rows),
        total=total(rows, success, hats[-1] if hats else None, tools, plan.suite.weights),
    )


def _task_row(rows: Sequence[Row], known: Mapping[tuple[str, str], str]) -> model.TaskRow:
    first = rows[0]
    testable = [row for row in rows if row.testable]
    passed = sum(row.success for row in testable)
    interval = clopper_pearson(passed, len(testable)) if testable else None
    reason = known.get((first.instance, first.cell))
    return model.TaskRow(
        task=first.task,
        instance=first.instance,
        cell=first.cell,
        split=first.split,
        tags=first.tags,
        cluster=first.cluster,
        planned=len(rows),
        testable=len(testable),
        passed=passed,
        untestable=len(rows) - len(testable),
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        outcomes=tuple(row.printed for row in rows),
        known_failure=reason,
        stale=reason is not None and is_stale(rows),
    )
