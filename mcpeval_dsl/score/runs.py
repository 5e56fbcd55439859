"""Score: is a run worse than an earlier one? A regression, none shown, or too little data; refused where it would mislead.

A regression is shown by fewer passes, by more calls (they go up before passes go down), by a new critical violation, by a new
confirmed defect, or by a rule that a changed server brings with it. Passes and calls of all cells are one family of tests.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcpeval_dsl.score import comparison as published
from mcpeval_dsl.score import model, rates
from mcpeval_dsl.score.against import brought
from mcpeval_dsl.score.comparable import Named, changes, differences
from mcpeval_dsl.score.differences import adjusted, difference, difference_of_amounts, overheads, paired
from mcpeval_dsl.score.flips import flips
from mcpeval_dsl.score.frame import INCONCLUSIVE_SHARE, SPLITS, Frame
from mcpeval_dsl.score.lift import of_cell, side_by_side
from mcpeval_dsl.score.rates import ByTask, by_task
from mcpeval_dsl.score.sides import Side, aligned, matched_cells
from mcpeval_dsl.score.suspicions import counts as is_counted
from mcpeval_dsl.statistics.unpaired import permutation

REGRESSION, REFUSED, UNDECIDED, CLEAN = 1, 2, 4, 0
_EXIT = {"regression": REGRESSION, "refused": REFUSED, "insufficient data": UNDECIDED, "none shown": CLEAN}


@dataclass(frozen=True, slots=True)
class _Pair:
    """One cell of the run and its counterpart, in one split."""

    cell: str
    match: str
    split: str
    now: Frame
    before: Frame


def compare_runs(this: Side, other: Side, accepted: Collection[str] = ()) -> published.RunComparison:
    """`accepted` are names of differences that the user allows; one that is not among them refuses the comparison."""
    unequal, changed = differences(this, other), changes(this, other)
    refused = [named for named in unequal if named.name not in accepted]
    found = published.RunComparison(
        run=this.name,
        baseline=other.name,
        suite=this.plan.suite.name,
        verdict="refused",
        because=tuple(f"the runs differ in {named.name}: {named.text}" for named in refused),
        differences=tuple(
            published.Difference(name=named.name, text=named.text, accepted=named.name in accepted) for named in unequal
        ),
        changes=tuple(published.Change(component=c.component, server=c.server, text=c.text) for c in changed),
        notes=tuple(_notes(this, other)),
        exit_code=REFUSED,
    )
    pairs = list(_pairs(this, other))
    if this.plan.suite.name != other.plan.suite.name:
        names = f"{this.plan.suite.name} and {other.plan.suite.name}"
        return found.model_copy(update={"because": (f"they are runs of two suites, {names}", *found.because)})
    if refused:
        return found
    if not pairs:
        return found.model_copy(update={"because": ("no cell of one run is in the other",)})
    return _compared(found, this, other, pairs, _cause(unequal, [c.component for c in changed]))


def _compared(
    found: published.RunComparison, this: Side, other: Side, pairs: Sequence[_Pair], cause: str
) -> published.RunComparison:
    cells = _adjusted([_cell(pair) for pair in pairs])
    components = tuple(
        published.ComponentResult(
            text=c.text, component=c.component, word=c.word, cell=c.segment, measured=c.measured, reason=c.reason
        )
        for c in brought(this, other, this.frame)
    )
    defects, violations = tuple(_defects(this, other)), tuple(_violations(this.safety, other.safety))
    because = [
        *(text for cell in cells for text in _worse(cell)),
        *(
            f"its {c.component} changed, and the rule `{c.text}` does not hold: {c.reason}"
            for c in components
            if c.word == "FAIL"
        ),
        *(f"a new defect of {d.server}.{d.tool}: {d.kind}" for d in defects if d.confirmed and d.direction == "new"),
        *(
            f"a critical violation that was not there: {v.kind} {v.tool}".rstrip()
            for v in violations
            if v.severity == "critical" and v.trials and not v.baseline_trials
        ),
    ]
    verdict: published.Verdict = "regression" if because else "none shown"
    if not because:
        because = list(_undecided(cells, components))
        verdict = "insufficient data" if because else "none shown"
    both, only = _tasks(this, other)
    return found.model_copy(
        update={
            "verdict": verdict,
            "because": tuple(because),
            "cause": cause,
            "tasks": both,
            "only_run": only[0],
            "only_baseline": only[1],
            "cells": tuple(cells),
            "flips": tuple(flip for pair in pairs for flip in _flips(pair)),
            "components": components,
            "defects": defects,
            "violations": violations,
            "overfit": tuple(_overfit(pairs)),
            "exit_code": _EXIT[verdict],
        }
    )


def _cause(unequal: Sequence[Named], components: Sequence[str]) -> str:
    """What the difference may be put down to: nothing, where more than one thing differs."""
    parts = {"artefact", "version", "descriptions", "schemas", "tools", "authentication"} & set(components)
    named = [each.name for each in unequal]
    if (named and parts) or len(named) > 1:
        return ""
    return named[0] if named else "the server" if parts else ""


def _pairs(this: Side, other: Side) -> Iterator[_Pair]:
    before = aligned(other.frame, this.frame)
    for cell, match in matched_cells(this.plan, other.plan).items():
        now, then = of_cell(this.frame, cell), of_cell(before, match)
        for code, split in enumerate(SPLITS):
            sides = [side.where(side["split"] == code) for side in (now, then)]
            if all(len(side) for side in sides):
                yield _Pair(cell, match, split, sides[0], sides[1])


def _cell(pair: _Pair) -> published.CellDifference:
    now, before = pair.now, pair.before
    calls = [_calls(side) for side in (now, before)]
    return published.CellDifference(
        cell=pair.cell,
        baseline_cell=pair.match,
        split=pair.split,
        counts=rates.counts(now),
        baseline_counts=rates.counts(before),
        success=rates.rate(now, "success"),
        baseline_success=rates.rate(before, "success"),
        difference=difference(side_by_side(now, before, "success")),
        calls_difference=_of_calls(calls[0], calls[1]),
        overheads=overheads(now, before),
        inconclusive=any(int((~s["testable"]).sum()) > INCONCLUSIVE_SHARE * len(s) for s in (now, before)),
    )


def _calls(frame: Frame) -> ByTask:
    testable = frame.where(frame["testable"])
    return by_task(testable, testable["charged"].astype(float))


def _of_calls(now: ByTask, before: ByTask) -> model.Delta | None:
    """Mean calls a trial, paired by task; the word is turned round, since more calls are worse."""
    found = difference_of_amounts(paired(now, before))
    return None if found is None else _turned(found)


def _turned(found: model.Delta) -> model.Delta:
    flipped: dict[str, model.ComparisonWord] = {"better": "worse", "worse": "better"}
    return found.model_copy(update={"word": flipped.get(found.word, found.word)})


def _adjusted(cells: Sequence[published.CellDifference]) -> list[published.CellDifference]:
    """Passes and calls of all cells are held against each other by Holm."""
    kept = [delta for cell in cells for delta in (cell.difference, cell.calls_difference) if delta is not None]
    new = iter(adjusted(kept, "Holm"))
    found = []
    for cell in cells:
        success = next(new) if cell.difference is not None else None
        calls = _turned(next(new)) if cell.calls_difference is not None else None
        found.append(cell.model_copy(update={"difference": success, "calls_difference": calls}))
    return found


def _worse(cell: published.CellDifference) -> Iterator[str]:
    where = cell.cell if cell.split == "train" else f"{cell.cell} ({cell.split})"
    if cell.difference is not None and cell.difference.word == "worse":
        yield f"fewer passes in {where}: {cell.difference.value * 100:+.1f} points"
    calls = cell.calls_difference
    if calls is not None and calls.word == "worse":
        yield f"more calls in {where}: {calls.value:+.2f} a trial"


def _undecided(
    cells: Sequence[published.CellDifference], components: Sequence[published.ComponentResult]
) -> Iterator[str]:
    """Why no regression having been shown means little."""
    for cell in cells:
        if cell.inconclusive:
            yield f"more than a tenth of the trials of {cell.cell} could not be tested"
        elif cell.difference is None:
            yield f"no task of {cell.cell} could be tested in both runs"
        elif cell.difference.word == "insufficient data":
            least = min((cell.difference.smallest_p or 1.0) * 2 * len(cells), 1.0)
            count = cell.difference.clusters
            few = "1 independent task is" if count == 1 else f"{count} independent tasks are"
            yield f"{cell.cell}: {few} too few (p cannot fall below {least:.3g})"
    yield from (f"whether {c.text} cannot be said: {c.reason}" for c in components if c.word == "NOT DECIDED")


def _flips(pair: _Pair) -> Iterator[published.Flip]:
    sides = []
    for side in (pair.now, pair.before):
        testable = side.where(side["testable"])
        sides.append(by_task(testable, testable["success"]))
    now, before = sides
    lost, gained = flips(now, before)
    for direction, instances in (("lost", lost), ("gained", gained)):
        for instance in instances:
            numbers = [int(np.flatnonzero(side.instances == instance)[0]) for side in sides]
            yield published.Flip(
                instance=pair.before.instances[instance],
                cell=pair.cell,
                split=pair.split,
                direction=direction,  # type: ignore[arg-type]
                passed=round(float(now.sums[numbers[0]])),
                testable=int(now.trials[numbers[0]]),
                baseline_passed=round(float(before.sums[numbers[1]])),
                baseline_testable=int(before.trials[numbers[1]]),
            )


def _tasks(this: Side, other: Side) -> tuple[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """How many task instances both could test somewhere, and those of one side alone."""
    sides = []
    for side in (this, other):
        sides.append(_tested(side))
    here, there = sides
    alone = tuple(n for n in here if n not in set(there)), tuple(n for n in there if n not in set(here))
    return len(here) - len(alone[0]), alone


def _tested(side: Side) -> list[str]:
    tested = side.frame.where(side.frame["testable"])
    return [side.frame.instances[code] for code in np.unique(tested.instance()).tolist()]


def _defects(this: Side, other: Side) -> Iterator[published.DefectChange]:
    sides = [
        {(lead.kind, lead.server, lead.tool, lead.argument): lead for lead in side.leads if is_counted(lead)}
        for side in (this, other)
    ]
    now, before = sides
    tested = set(_tested(this))
    for key in dict.fromkeys((*now, *before)):
        lead = now.get(key) or before[key]
        direction = "seen again" if key in before else "new"
        if key not in now:
            # What was not tried again may be there still; a harvest or a start has no task of its own.
            task, at, _ = lead.first_trial.rpartition("@")
            direction = "fixed" if (task in tested if at else tested) else "not tested"
        yield published.DefectChange(
            kind=lead.kind,
            server=lead.server,
            tool=lead.tool,
            argument=lead.argument,
            confirmed=lead.status == "confirmed",
            direction=direction,  # type: ignore[arg-type]
        )


def _violations(now: model.Safety, before: model.Safety) -> Iterator[published.ViolationChange]:
    sides: list[dict[tuple[str, str, str], int]] = []
    for safety in (now, before):
        found: dict[tuple[str, str, str], int] = {}
        for row in safety.violations:
            key = (row.severity, row.kind, row.tool)
            found[key] = found.get(key, 0) + row.trials
        sides.append(found)
    for key in dict.fromkeys((*sides[0], *sides[1])):
        yield published.ViolationChange(
            severity=key[0],
            kind=key[1],
            tool=key[2],
            trials=sides[0].get(key, 0),
            baseline_trials=sides[1].get(key, 0),
        )


def _overfit(pairs: Sequence[_Pair]) -> Iterator[published.OverfitGap]:
    by_cell: dict[str, dict[str, tuple[model.Delta, list[float]]]] = {}
    for pair in pairs:
        both = side_by_side(pair.now, pair.before, "success")
        delta = difference(both)
        if delta is not None:
            by_cell.setdefault(pair.cell, {})[pair.split] = (delta, both.cluster_means)
    for cell, splits in by_cell.items():
        if len(splits) == len(SPLITS):
            yield _gap(cell, *splits["train"], *splits["heldout"])


def _gap(
    cell: str, train: model.Delta, open_: list[float], heldout: model.Delta, hidden: list[float]
) -> published.OverfitGap:
    """The two changes are about different tasks, so that MOVER needs no correlation, and no task is paired with another."""
    value, low, high = train.value - heldout.value, None, None
    if None not in (train.low, train.high, heldout.low, heldout.high):
        assert train.low is not None and train.high is not None and heldout.low is not None and heldout.high is not None
        low = value - math.hypot(train.value - train.low, heldout.high - heldout.value)
        high = value + math.hypot(train.high - train.value, heldout.value - heldout.low)
    return published.OverfitGap(
        cell=cell,
        value=value,
        low=low,
        high=high,
        p=permutation(open_, hidden),
        train=train.value,
        heldout=heldout.value,
    )


def _notes(this: Side, other: Side) -> Iterator[str]:
    """Worth knowing, and no reason to refuse."""
    if this.began and other.began and this.began < other.began:
        yield f"{this.name} began before {other.name}: are they meant the other way round?"
    if this.plan.harness != other.plan.harness:
        yield f"made with mcpe {this.plan.harness} and {other.plan.harness}"
    boxes = [side.manifest.sandbox if side.manifest is not None else "" for side in (this, other)]
    if boxes[0] != boxes[1]:
        yield f"sandboxes differ: {boxes[0] or 'unknown'} and {boxes[1] or 'unknown'}"
    for side in (this, other):
        missing = int((~side.frame["recorded"]).sum())
        if missing:
            yield f"{side.name} is not complete: {missing} of {len(side.frame)} planned trials are not on record"
