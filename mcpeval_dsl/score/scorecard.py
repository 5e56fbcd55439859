"""Score, last step: from the plan and the graded records of a run to its scorecard.

Every number comes from the records, none from what a session counted, so an interrupted and continued run has the same
scorecard, to the byte, as one that was never stopped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.checks import CheckRecord
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, Manifest, TrialRecord
from mcpeval_dsl.score import model, rates
from mcpeval_dsl.score.checks import check_rows, untested
from mcpeval_dsl.score.dimensions import total
from mcpeval_dsl.score.exit import exit_code
from mcpeval_dsl.score.failures import worst_first
from mcpeval_dsl.score.frame import INCONCLUSIVE_SHARE, SPLITS, Frame
from mcpeval_dsl.score.gates import judge
from mcpeval_dsl.score.gather import Gathered, gather
from mcpeval_dsl.score.groups import corrected, grouped
from mcpeval_dsl.score.known import is_stale
from mcpeval_dsl.score.lift import compared, of_cell
from mcpeval_dsl.score.lowered import lowered
from mcpeval_dsl.score.metrics import Context
from mcpeval_dsl.score.plain import indented
from mcpeval_dsl.score.sides import Side
from mcpeval_dsl.score.timings import CellTiming, CheckTiming, TimeOverhead, check_timings, timing
from mcpeval_dsl.semantics.model import Cell
from mcpeval_dsl.statistics.intervals import clopper_pearson

_KS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Scored:
    scorecard: model.Scorecard
    timings: tuple[CellTiming, ...]
    overheads: tuple[TimeOverhead, ...] = ()
    latencies: tuple[CheckTiming, ...] = ()


def build(
    plan: Plan,
    records: Iterable[TrialRecord],
    connects: Sequence[ConnectRecord] = (),
    harvests: Sequence[HarvestRecord] = (),
    superseded: Iterable[TrialRecord] = (),
    defects: Iterable[DefectRecord] = (),
    baselines: Mapping[str, Side | str] | None = None,
    checks: Iterable[CheckRecord] = (),
    manifest: Manifest | None = None,
    judgements: Iterable[JudgementRecord] = (),
) -> Scored:
    """The scorecard of a run. `records` come in order of the plan, each once (as the store gives them), graded.

    `superseded` are attempts that a re-run replaced; only their violations count. `defects` are replayed leads. `baselines`
    are the runs that the gate names, or why one of them is not there. `judgements` are what judges said of labelled answers.
    Raises ValueError for records that the plan does not have, or out of order.
    """
    found = gather(plan, records, connects, harvests, superseded, defects, judgements)
    return scored(plan, found, connects, baselines, checks, manifest)


def scored(
    plan: Plan,
    found: Gathered,
    connects: Sequence[ConnectRecord] = (),
    baselines: Mapping[str, Side | str] | None = None,
    checks: Iterable[CheckRecord] = (),
    manifest: Manifest | None = None,
) -> Scored:
    """The scorecard of what was gathered from a run."""
    repeats = sum(found.repeats.values())
    safety, leads = found.tallies.safety.result(), found.tallies.leads.result()
    answered, began = found.tallies.answered, found.tallies.began
    checks = tuple(checks)
    this = Side("", plan, found.frame, safety, leads, connects, manifest, repeats, answered, began)
    judges = found.tallies.judges.result()
    card = _card(found, Context(safety, leads, baselines or {}, this, check_rows(plan, checks), judges), plan)
    return replace(card, latencies=check_timings(checks))


def to_bytes(card: model.Scorecard) -> bytes:
    """The published JSON; equal scorecards give equal bytes."""
    return indented(card.model_dump(mode="json")).encode("utf-8", "replace") + b"\n"


def _card(found: Gathered, context: Context, plan: Plan) -> Scored:
    frame, tallies = found.frame, found.tallies
    segments = _segments(plan, frame)
    task_rows = tuple(_task_rows(frame, tallies.known.reasons))
    stale = tallies.known.problems([(row.instance, row.cell, row.stale) for row in task_rows])
    comparisons, times = compared(plan, frame, tallies.native)
    gate = judge(plan, frame, context, stale)
    card = model.Scorecard(
        suite=plan.suite.name,
        title=plan.suite.title,
        spec=plan.suite.spec,
        plan_key=plan.key,
        harness=plan.harness,
        sandbox=tuple(sorted(tallies.sandboxes)),
        tasks=int((np.bincount(frame.instance()) > 0).sum()),
        planned=len(frame) + sum(found.repeats.values()),
        recorded=int(frame["recorded"].sum()) + sum(found.repeats.values()),
        complete=bool((frame["recorded"] & ~frame["infrastructure"]).all()),
        gate=gate,
        cells=tuple(
            _cell(plan, cell, split, part, found.repeats.get((cell.id, split), 0)) for cell, split, part in segments
        ),
        matrix=grouped(plan, frame),
        comparisons=corrected(comparisons, plan.suite.gate.rules),
        rows=task_rows,
        safety=context.safety,
        judges=tuple(context.judges),
        checks=tuple(context.checks),
        lowered=lowered(plan),
        leads=tuple(context.leads),
        failures=tuple(tallies.failures.rows.values()),
        untestable=worst_first(tallies.failures.untestable.values()),
        findings=tallies.findings.result(),
        exit_code=exit_code(gate.word, frame, untested(context.checks)),
    )
    return Scored(card, tuple(timing(cell.id, split, part) for cell, split, part in segments), times)


def _segments(plan: Plan, frame: Frame) -> list[tuple[Cell, str, Frame]]:
    """By cell and split, in order of the plan, train before held-out."""
    cells = {cell.id: cell for cell in plan.cells}
    found = []
    for name in dict.fromkeys(group.cell for group in frame.groups):
        trials = of_cell(frame, name)
        for code, split in enumerate(SPLITS):
            part = trials.where(trials["split"] == code)
            if len(part):
                found.append((cells[name], split, part))
    return found


def _cell(plan: Plan, cell: Cell, split: str, trials: Frame, repeats: int) -> model.CellScore:
    success = rates.rate(trials, "success")
    counts, tools = rates.counts(trials, repeats), rates.measures(trials)
    most = int(trials["number"].max(initial=1))
    ks = sorted({k for k in (*_KS, most) if k <= most})
    hats = tuple(rates.at_k(trials, k, every=True) for k in ks)
    testable = trials.where(trials["testable"])
    judged = trials["grading_cost"][~np.isnan(trials["grading_cost"])]
    spoken = trials["user_cost"][~np.isnan(trials["user_cost"])]
    priced = bool(np.isfinite(spoken).all())
    missing = counts.untestable + counts.not_run
    return model.CellScore(
        cell=cell.id,
        split=split,
        model=cell.model,
        host=cell.host,
        arm=cell.arm,
        server=cell.server,
        counts=counts,
        inconclusive=missing > INCONCLUSIVE_SHARE * len(trials),
        success=success,
        correct=rates.rate(trials, "correct"),
        on_missing_verdicts=int(testable["on_missing"].sum()),
        pass_at=tuple(rates.at_k(trials, k, every=False) for k in ks),
        pass_hat=hats,
        tools=tools,
        behaviours=rates.behaviours(trials),
        calls=rates.spread_of(testable["charged"].astype(float)),
        errors=rates.errors(trials),
        tokens=rates.spread_of(testable["tokens"].astype(float)),
        cost_usd=rates.spread_of(testable["cost"]),
        grading_cost_usd=math.fsum(judged.tolist()) if len(judged) else None,
        user_cost_usd=math.fsum(spoken.tolist()) if len(spoken) and priced else None,
        user_price_unknown=not priced,
        saturated=len(testable) == len(trials)
        and bool((trials["success"] & ~trials["on_missing"]).all())
        and any(task.purpose == "capability" for task in plan.tasks),
        total=total(trials, success, hats[-1] if hats else None, tools, plan.suite.weights),
    )


def _task_rows(frame: Frame, known: Mapping[tuple[str, str], str]) -> Iterator[model.TaskRow]:
    testable, passed = frame["testable"], frame["success"] & frame["testable"]
    splits, clusters, printed = frame["split"], frame["cluster"], np.array(frame.printed(), dtype=object)
    for group, places in frame.by_group():
        tested, right = int(testable[places].sum()), int(passed[places].sum())
        interval = _exact(right, tested) if tested else None
        reason = known.get((group.instance, group.cell))
        yield model.TaskRow(
            task=group.task,
            instance=group.instance,
            cell=group.cell,
            split=SPLITS[int(splits[places[0]])],
            tags=group.tags,
            cluster=frame.clusters[int(clusters[places[0]])],
            planned=len(places),
            testable=tested,
            passed=right,
            untestable=len(places) - tested,
            low=interval.low if interval is not None else None,
            high=interval.high if interval is not None else None,
            outcomes=tuple(printed[places].tolist()),
            known_failure=reason,
            stale=reason is not None and is_stale(frame.where(places)),
        )


_exact = lru_cache(maxsize=4096)(clopper_pearson)
