"""Score: the matrix, groups of tasks in rows and cells in columns, and p values adjusted for all that was asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score import model, rates
from mcpeval_dsl.score.differences import adjusted, difference
from mcpeval_dsl.score.frame import INCONCLUSIVE_SHARE, SPLITS, Frame
from mcpeval_dsl.score.lift import groups_of_tasks, of_cell, side_by_side
from mcpeval_dsl.semantics.model import GateRule

COMPARING = ("lift", "compare")


def grouped(plan: Plan, frame: Frame) -> tuple[model.GroupScore, ...]:
    """All tasks first, then each tag in order of the plan; in each the cells in order of the plan.

    Each cell is compared with the first one; their p values are adjusted together by Benjamini–Hochberg.
    """
    groups = groups_of_tasks(plan, frame, ("tag",))
    cells = list(dict.fromkeys(group.cell for group in frame.groups))
    found = []
    for code, split in enumerate(SPLITS):
        part = frame.where(frame["split"] == code)
        for name, chosen in groups.items():
            inside = part.of_groups(chosen)
            of_cells = [(cell, trials) for cell in cells if len(trials := of_cell(inside, cell))]
            found += [_entry(name, cell, split, trials, of_cells[0]) for cell, trials in of_cells]
    return tuple(_adjust(found))


def _entry(group: str, cell: str, split: str, trials: Frame, reference: tuple[str, Frame]) -> model.GroupScore:
    testable = trials.where(trials["testable"])
    success = rates.rate(trials, "success")
    first, others = reference
    return model.GroupScore(
        group=group,
        cell=cell,
        split=split,
        tasks=success.tasks if success is not None else 0,
        trials=len(testable),
        counts=rates.counts(trials),
        success=success,
        calls=rates.spread_of(testable["charged"].astype(float)),
        cost_usd=rates.spread_of(testable["cost"]),
        inconclusive=len(trials) - len(testable) > INCONCLUSIVE_SHARE * len(trials),
        reference=first,
        difference=None if cell == first else difference(side_by_side(trials, others, "success")),
    )


def _adjust(entries: Sequence[model.GroupScore]) -> list[model.GroupScore]:
    kept = [entry.difference for entry in entries if entry.difference is not None]
    new = iter(adjusted(kept, "Benjamini–Hochberg"))
    return [
        entry if entry.difference is None else entry.model_copy(update={"difference": next(new)}) for entry in entries
    ]


def corrected(
    comparisons: Sequence[model.ComparisonScore], rules: Sequence[GateRule]
) -> tuple[model.ComparisonScore, ...]:
    """Holm over all rows (of all tasks) that a rule of the gate is about, Benjamini–Hochberg over the rest."""
    asked = {id(each) for each in comparisons if any(asked_by(rule, each) for rule in rules)}

    def by_gate(comparison: model.ComparisonScore, row: model.ComparisonRow) -> bool:
        return id(comparison) in asked and not row.group

    held = _rows(comparisons, by_gate, "Holm")
    rest = _rows(comparisons, lambda c, r: not by_gate(c, r), "Benjamini–Hochberg")
    return tuple(
        comparison.model_copy(
            update={"rows": tuple(held.get(id(row)) or rest.get(id(row)) or row for row in comparison.rows)}
        )
        for comparison in comparisons
    )


def asked_by(rule: GateRule, comparison: model.ComparisonScore) -> bool:
    """Whether a rule is about a comparison: of its kind, and of its members where it names them."""
    if rule.metric != comparison.kind:
        return False
    return not rule.arguments or rule.arguments == (comparison.treatment, comparison.baseline)


def _rows(
    comparisons: Sequence[model.ComparisonScore],
    chosen: Callable[[model.ComparisonScore, model.ComparisonRow], bool],
    by: str,
) -> dict[int, model.ComparisonRow]:
    rows = [row for each in comparisons for row in each.rows if chosen(each, row) and row.difference is not None]
    new = adjusted([row.difference for row in rows if row.difference is not None], by)
    return {id(row): row.model_copy(update={"difference": delta}) for row, delta in zip(rows, new, strict=True)}
