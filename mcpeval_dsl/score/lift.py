"""Score: `lift A over B` and `compare A over B`: what one member of an axis gains over another, paired by task.

Two cells are compared that differ in nothing but the member; agents are never pooled. Lift is about `correct` without a
critical violation, since call budgets are about the server; `compare` is about `success`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.agents.hosts.offer import SEARCH
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score import model
from mcpeval_dsl.score.differences import Pairs, difference, medians, overhead, overheads, paired
from mcpeval_dsl.score.frame import INCONCLUSIVE_SHARE, SPLITS, Frame, Read, Scenario, as_if
from mcpeval_dsl.score.rates import by_task, rate
from mcpeval_dsl.score.rows import cell_variables
from mcpeval_dsl.score.timings import TimeOverhead
from mcpeval_dsl.semantics.model import Cell, Comparison, Task


@dataclass(frozen=True, slots=True)
class CellPair:
    """`at` is what both cells share, `axis` where they differ; `agent` names what they share as a cell is named."""

    treatment: Cell
    baseline: Cell
    axis: str
    at: Mapping[str, str]
    agent: str


def pairs_of(plan: Plan, treatment: str, baseline: str, axes: Sequence[str]) -> list[CellPair]:
    """Cells of the plan that differ in one axis only, from `baseline` to `treatment`, in order of the plan."""
    by_place: dict[tuple[str, tuple[tuple[str, str], ...]], Cell] = {}
    places = {cell.id: _coordinates(cell) for cell in plan.cells}
    varying = _varying(places.values())
    for cell in plan.cells:
        for axis in axes:
            if places[cell.id].get(axis) == baseline:
                by_place.setdefault((axis, _without(places[cell.id], axis)), cell)
    found = []
    for cell in plan.cells:
        for axis in axes:
            if places[cell.id].get(axis) == treatment:
                rest = _without(places[cell.id], axis)
                other = by_place.get((axis, rest))
                if other is not None:
                    agent = "+".join(value for name, value in rest if name == "model" or name in varying)
                    found.append(CellPair(cell, other, axis, dict(rest), agent))
    return found


def axes_of(kind: str) -> tuple[str, ...]:
    return ("arm", "server", "model", "host") if kind == "lift" else ("server", "model", "host", "arm")


def _coordinates(cell: Cell) -> dict[str, str]:
    return {name: str(value) for name, value in cell_variables(cell).items() if value is not None}


def _varying(places: Iterable[Mapping[str, str]]) -> set[str]:
    """The axes on which cells differ: those that their names tell."""
    seen: dict[str, set[str]] = {}
    for place in places:
        for name, value in place.items():
            seen.setdefault(name, set()).add(value)
    return {name for name, values in seen.items() if len(values) > 1}


def _without(place: Mapping[str, str], axis: str) -> tuple[tuple[str, str], ...]:
    return tuple(item for item in place.items() if item[0] != axis)


@dataclass(slots=True)
class NativeTools:
    """Native tools that agents had, by cell. Add what every trial had."""

    by_cell: dict[str, dict[str, None]]

    def add(self, cell: str, tools: Iterable[str]) -> None:
        self.by_cell.setdefault(cell, {}).update(dict.fromkeys(tools))


def native_of(record: TrialRecord) -> tuple[str, ...]:
    """A search among a server's tools gives nothing else: it is none."""
    return tuple(tool.name for tool in record.native_tools if tool.name != SEARCH)


@dataclass(frozen=True, slots=True)
class Segment:
    """Trials of one pair of cells in one split and group of tasks."""

    pair: CellPair
    split: str
    group: str
    treatment: Frame
    baseline: Frame


def compared(
    plan: Plan, frame: Frame, native: NativeTools
) -> tuple[tuple[model.ComparisonScore, ...], tuple[TimeOverhead, ...]]:
    """Every comparison that the spec asks for, and what it costs in time. p values are not adjusted yet."""
    scores, times = [], []
    for comparison in plan.suite.comparisons:
        pairs = pairs_of(plan, comparison.treatment, comparison.baseline, axes_of(comparison.kind))
        segments = list(_segments(plan, frame, comparison, pairs))
        arms = tuple(_arms(frame, pairs, native, plan))
        scores.append(
            model.ComparisonScore(
                kind=comparison.kind,
                treatment=comparison.treatment,
                baseline=comparison.baseline,
                measure=measure_of(comparison.kind),
                by=comparison.by,
                at=str(comparison.at or ""),
                arms=arms,
                rows=tuple(_row(segment, measure_of(comparison.kind)) for segment in segments),
                notes=tuple(_notes(comparison, arms, bool(pairs))),
            )
        )
        times += [found for segment in segments if (found := _time(segment)) is not None]
    return tuple(scores), tuple(times)


def measure_of(kind: str) -> Read:
    return "correct" if kind == "lift" else "success"


def _segments(plan: Plan, frame: Frame, comparison: Comparison, pairs: Sequence[CellPair]) -> Iterator[Segment]:
    groups = groups_of_tasks(plan, frame, comparison.by)
    for pair in pairs:
        sides = [of_cell(frame, cell.id) for cell in (pair.treatment, pair.baseline)]
        for code, split in enumerate(SPLITS):
            one, other = (side.where(side["split"] == code) for side in sides)
            if not len(one) and not len(other):
                continue
            for group, chosen in groups.items():
                treatment, baseline = one.of_groups(chosen), other.of_groups(chosen)
                if len(treatment) or len(baseline):
                    yield Segment(pair, split, group, treatment, baseline)


def groups_of_tasks(plan: Plan, frame: Frame, by: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Name of a group -> which trial groups belong to it; `` is all of them. Tags bare, others as `kind write`."""
    tasks = {task.name: task for task in plan.tasks}
    found: dict[str, list[int]] = {"": list(range(len(frame.groups)))}
    for number, group in enumerate(frame.groups):
        for name in _names(tasks[group.task], group.tags, by):
            found.setdefault(name, []).append(number)
    marked = {}
    for name, numbers in found.items():
        marked[name] = np.zeros(len(frame.groups), dtype=bool)
        marked[name][numbers] = True
    return marked


def _names(task: Task, tags: Sequence[str], by: Sequence[str]) -> Iterator[str]:
    for axis in by:
        if axis in ("tag", "tags"):
            yield from tags
        elif axis in ("kind", "difficulty", "purpose", "cluster", "task"):
            value = task.name if axis == "task" else getattr(task, axis)
            if value is not None:
                yield f"{axis} {value}"


def of_cell(frame: Frame, cell: str) -> Frame:
    return frame.of_groups(np.array([group.cell == cell for group in frame.groups], dtype=bool))


def side_by_side(treatment: Frame, baseline: Frame, read: Read, scenario: Scenario = "as it is") -> Pairs:
    """The rates of both sides by task; in the worst case what is missing counts against the treatment alone."""
    turned: Scenario = "best" if scenario == "worst" else "worst" if scenario == "best" else scenario
    one, other = as_if(treatment, scenario), as_if(baseline, turned)
    return paired(by_task(one, one[read]), by_task(other, other[read]))


def _row(segment: Segment, read: Read) -> model.ComparisonRow:
    one, other = segment.treatment, segment.baseline
    pairs = side_by_side(one, other, read)
    at = segment.pair.at
    untested = [int((~side["testable"]).sum()) > INCONCLUSIVE_SHARE * len(side) for side in (one, other)]
    return model.ComparisonRow(
        treatment_cell=segment.pair.treatment.id,
        baseline_cell=segment.pair.baseline.id,
        at=dict(at),
        agent=segment.pair.agent,
        split=segment.split,
        group=segment.group,
        treatment=rate(one, read),
        baseline=rate(other, read),
        difference=difference(pairs),
        overheads=overheads(one, other),
        only_treatment=tuple(one.instances[number] for number in pairs.only_treatment.tolist()),
        only_baseline=tuple(other.instances[number] for number in pairs.only_baseline.tolist()),
        inconclusive=any(untested),
    )


def _time(segment: Segment) -> TimeOverhead | None:
    sides = [side.where(side["testable"]) for side in (segment.treatment, segment.baseline)]
    found = overhead(*(medians(side, side["agent_ms"].astype(float)) for side in sides))
    if isinstance(found, str):
        return None
    value, interval, tasks = found
    return TimeOverhead(
        segment.pair.treatment.id,
        segment.pair.baseline.id,
        segment.split,
        segment.group,
        value,
        interval.low if interval is not None else None,
        interval.high if interval is not None else None,
        tasks,
    )


def _arms(frame: Frame, pairs: Sequence[CellPair], native: NativeTools, plan: Plan) -> Iterator[model.ArmScore]:
    arms = {arm.name: arm for arm in plan.arms}
    for cell, axis in dict.fromkeys((cell.id, pair.axis) for pair in pairs for cell in (pair.treatment, pair.baseline)):
        trials = of_cell(frame, cell)
        tested = trials.where(trials["testable"])
        called = int(tested["called_server"].sum())
        of_plan = next(each for each in plan.cells if each.id == cell)
        arm = arms.get(of_plan.arm or "")
        yield model.ArmScore(
            member=str(_coordinates(of_plan)[axis]),
            cell=cell,
            servers=arm.servers if arm is not None else tuple(s for s in (of_plan.server,) if s),
            tools=tuple(native.by_cell.get(cell, {})),
            trials=len(tested),
            called_server=called,
            mcp_use=called / len(tested) if len(tested) else None,
        )


def _notes(comparison: Comparison, arms: Sequence[model.ArmScore], any_pair: bool) -> Iterator[str]:
    if not any_pair:
        yield f"no two cells differ in {comparison.treatment} and {comparison.baseline} alone"
    if comparison.kind != "lift":
        return
    for arm in arms:
        if arm.member == comparison.treatment and arm.mcp_use is not None and arm.servers:
            if arm.called_server == 0:
                yield f"{arm.cell} never called the server: its lift is not the server's doing"
            if arm.tools:
                yield f"{arm.cell} could reach the data without the server too: {', '.join(arm.tools)}"
