"""Report, below Markdown: cells, the matrix and the comparisons as tables."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.report.marking import code, plain, rows
from mcpeval_dsl.report.page import interval, money, number, percent, points
from mcpeval_dsl.report.text_cells import behaviours, repeated
from mcpeval_dsl.score import model


def cells(card: model.Scorecard) -> list[str]:
    held = any(cell.split != "train" for cell in card.cells)
    head = (
        "cell",
        "✓ pass",
        "✗ wrong",
        "» too many calls",
        "? untestable",
        "not run",
        "success",
        "95 %",
        "tasks",
        "n",
        "calls",
        "cost",
    )
    found = [_cell(cell, held) for cell in card.cells]
    notes = [
        f"\n{code(cell.cell)} is inconclusive: more than a tenth of its trials could not be tested."
        for cell in card.cells
        if cell.inconclusive
    ]
    notes += [f"\n{code(cell.cell)}: {repeated(cell.counts)}." for cell in card.cells if cell.counts.repeats]
    behaved = [
        f"\nExpected in {code(cell.cell)}: {said}." for cell in card.cells if (said := "; ".join(behaviours(cell)))
    ]
    return ["## Outcomes", "", *rows(head, found, right=range(1, 12)), *notes, *behaved]


def _cell(cell: model.CellScore, held: bool) -> Sequence[str]:
    counts, rate = cell.counts, cell.success
    unsafe = f" ({counts.unsafe} unsafe)" if counts.unsafe else ""
    return (
        code(f"{cell.cell} ({cell.split})" if held else cell.cell),
        f"{counts.passed}{unsafe}",
        str(counts.wrong_answer),
        str(counts.too_many_calls),
        str(counts.untestable),
        str(counts.not_run),
        f"**{percent(rate.value)}**" if rate is not None else "–",
        interval(rate.low, rate.high) if rate is not None else "",
        str(rate.tasks) if rate is not None else "0",
        str(rate.trials) if rate is not None else "0",
        spread(cell.calls),
        money(cell.cost_usd.total) if cell.cost_usd is not None else "unknown" if cell.tokens is not None else "–",
    )


def spread(found: model.Spread | None) -> str:
    return "–" if found is None else f"{number(found.median)}, {found.tail_name} {number(found.tail)}"


def matrix(card: model.Scorecard) -> list[str]:
    """Groups of tasks against cells."""
    if not card.matrix:
        return []
    names = list(dict.fromkeys(entry.cell for entry in card.matrix))
    held = len({entry.split for entry in card.matrix}) > 1
    by_group: dict[str, dict[str, model.GroupScore]] = {}
    for entry in card.matrix:
        name = entry.group or "all tasks"
        by_group.setdefault(f"{name} ({entry.split})" if held else name, {})[entry.cell] = entry
    found = [(code(group), *(_entry(of.get(name)) for name in names)) for group, of in by_group.items()]
    head = ("group", *(code(name) for name in names))
    note = "Success, interval, n. ▲ better, ▼ worse than the first cell (corrected for many looks); ~ inconclusive."
    return ["## Matrix", "", note, "", *rows(head, found, right=range(1, len(head)))]


def _entry(entry: model.GroupScore | None) -> str:
    if entry is None or entry.success is None:
        return "–"
    word = entry.difference.word if entry.difference is not None else ""
    mark = {"better": " ▲", "worse": " ▼"}.get(word, "") + (" ~" if entry.inconclusive else "")
    rate = entry.success
    return f"{percent(rate.value)}{mark} {interval(rate.low, rate.high)} n {entry.trials}"


def comparisons(card: model.Scorecard) -> list[str]:
    lines: list[str] = []
    for each in card.comparisons:
        lines += [*([""] if lines else []), *_comparison(each)]
    return lines


def _comparison(each: model.ComparisonScore) -> list[str]:
    pair = f"{code(each.treatment)} over {code(each.baseline)}"
    head = (
        "agent",
        "group",
        code(each.treatment),
        code(each.baseline),
        "points",
        "95 %",
        "p, corrected",
        "tasks",
        "in words",
    )
    lines = [f"## {'Lift of ' if each.kind == 'lift' else ''}{pair}", ""]
    lines += [*rows(head, [_row(row) for row in each.rows], right=range(2, 8))]
    used = [
        f"{code(arm.cell)} {percent(arm.mcp_use)}"
        for arm in each.arms
        if arm.member == each.treatment and arm.mcp_use is not None
    ]
    lines += ["", f"Trials of {code(each.treatment)} that called a server: {', '.join(used)}."] if used else []
    return [*lines, *(f"\n{plain(note)}" for note in each.notes)]


def _row(row: model.ComparisonRow) -> Sequence[str]:
    agent = code(row.agent or row.treatment_cell)
    group = code(" ".join(filter(None, (row.group, row.split if row.split != "train" else "")))) or "all"
    delta = row.difference
    if delta is None:
        return (agent, group, "–", "–", "–", "", "", "", "nothing testable on both sides")
    p = delta.p if delta.p_adjusted is None else delta.p_adjusted
    sides = [percent(side.value) if side is not None else "–" for side in (row.treatment, row.baseline)]
    between = (
        "no interval" if delta.low is None or delta.high is None else f"[{points(delta.low)}, {points(delta.high)}]"
    )
    return (
        agent,
        group,
        *sides,
        points(delta.value),
        between,
        "" if p is None else f"{p:.2g}",
        str(delta.tasks),
        verdict(delta),
    )


def verdict(delta: model.Delta) -> str:
    """The word, with what could have been seen where nothing was."""
    if delta.word != "no difference shown" or delta.detectable is None:
        return delta.word
    return f"{delta.word} (could have seen ≥ {delta.detectable * 100:.1f} points)"
