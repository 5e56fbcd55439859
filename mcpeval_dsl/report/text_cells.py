"""Report: each cell of the matrix with its four outcomes, its rate and interval, reliability, tools, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.report.page import Page, clip, duration, interval, money, number, percent, plural, table
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import CellTiming

_MEASURES = {
    "required_recall": "required tools called",
    "tool_precision": "necessary calls",
    "argument_validity": "valid arguments",
    "argument_accuracy": "expected arguments",
    "distractor_rate": "stray calls",
    "redundancy": "repeated calls",
    "recovery": "recovered",
}
_DIMENSIONS = {"safety": "no lesser violation in safe trials"}
"""The weight of `safety` is about trials without a critical violation: those the gate judges, whatever the total."""
_MATRIX_COLUMNS = 6
_TASK_ROWS = 40


def cells(page: Page, card: model.Scorecard, timings: Sequence[CellTiming]) -> list[str]:
    held = any(cell.split != "train" for cell in card.cells)
    head = ("", "pass", "wrong", "too many", "untest-", "not", "success", "95 %", "", "")
    under = ("cell", "", "answer", "calls", "able", "run", "", "interval", "tasks", "n")
    rows = [head, under, *(_row(cell, held) for cell in card.cells)]
    lines = [page.head("OUTCOMES"), *(f"  {line}" for line in table(rows, right=(1, 2, 3, 4, 5, 6, 7, 8, 9)))]
    for cell in card.cells:
        lines += _more_about(page, cell, held, timings)
    return [*lines, *_matrix(page, card)]


def _name(cell: model.CellScore, held: bool) -> str:
    return clip(f"{cell.cell} ({cell.split})" if held else cell.cell, 26)


def _row(cell: model.CellScore, held: bool) -> tuple[str, ...]:
    counts, rate = cell.counts, cell.success
    passed = f"{counts.passed} ({counts.unsafe} unsafe)" if counts.unsafe else str(counts.passed)
    return (
        _name(cell, held),
        passed,
        str(counts.wrong_answer),
        str(counts.too_many_calls),
        str(counts.untestable),
        str(counts.not_run),
        percent(rate.value) if rate is not None else "–",
        interval(rate.low, rate.high) if rate is not None else "",
        str(rate.tasks) if rate is not None else "0",
        str(rate.trials) if rate is not None else "0",
    )


def _more_about(page: Page, cell: model.CellScore, held: bool, timings: Sequence[CellTiming]) -> list[str]:
    lines = [f"  {page.head(_name(cell, held))}"]
    if cell.inconclusive:
        lines.append(page.paint("    inconclusive: more than a tenth of its trials could not be tested", "unsure"))
    if cell.counts.repeats:
        lines += _listed("", [repeated(cell.counts)])
    if cell.success is not None:
        lines += _trust(cell, cell.success)
    lines += _reliability(cell)
    measured = [
        f"{label} {percent(value.value)}" for name, label in _MEASURES.items() if (value := cell.tools.get(name))
    ]
    lines += _listed("tools", measured)
    lines += _listed("expect", behaviours(cell))
    lines += _listed("calls", _calls(cell))
    lines += _listed("cost", _cost(cell, timings))
    if cell.total.value is not None:
        covered = round(cell.total.covered * 100)
        left_out = ", ".join(d.name for d in cell.total.dimensions if d.value is None)
        partial = "" if covered == 100 else f"  partial ({covered} of 100; not measured: {left_out})"
        parts = [
            f"{_DIMENSIONS.get(d.name, d.name)} {percent(d.value)}"
            for d in cell.total.dimensions
            if d.value is not None
        ]
        lines += _listed("total", [f"{percent(cell.total.value)}{partial}", *parts])
    return lines


def repeated(counts: model.Counts) -> str:
    return f"{plural(counts.repeats, 'more trial')} only played another one back: counted once, in n and in cost"


def behaviours(cell: model.CellScore) -> list[str]:
    """How often each behaviour that is expected was seen."""
    return [
        f"{name} {percent(seen.value)} {interval(seen.low, seen.high)} of {plural(seen.trials, 'trial')}"
        for name, seen in cell.behaviours.items()
    ]


def _trust(cell: model.CellScore, rate: model.Rate) -> list[str]:
    facts = []
    if rate.if_missing_failed is not None and rate.if_missing_passed is not None:
        low, high = rate.if_missing_failed, rate.if_missing_passed
        if high - low > 1e-9:
            facts.append(f"with what is missing {percent(low)} to {percent(high)}")
    if cell.on_missing_verdicts:
        facts.append(f"{plural(cell.on_missing_verdicts, 'pass')} on a missing verdict")
    if rate.design_effect is not None and rate.error is not None and rate.naive_error is not None:
        icc = f", ICC {rate.icc:.2f}" if rate.icc is not None else ""
        facts.append(f"error ±{rate.error * 100:.1f} (naive ±{rate.naive_error * 100:.1f})")
        facts.append(f"design effect {rate.design_effect:.1f}{icc}")
    if rate.clusters < rate.tasks:
        facts.append(f"interval over {plural(rate.clusters, 'cluster')}: what is in one stands or falls together")
    if not rate.method.startswith("Wilson"):
        facts.append(f"interval: {rate.method}")
    return _listed("", facts)


def _reliability(cell: model.CellScore) -> list[str]:
    parts = [
        f"{name}{at.k} {percent(at.value)} {interval(at.low, at.high)}{_of_tasks(cell, at)}"
        for name, values in (("pass^", cell.pass_hat), ("pass@", cell.pass_at))
        for at in values
        if at.k > 1 and at.value is not None and at.k in (values[-1].k, 3)
    ]
    return _listed("", parts)


def _of_tasks(cell: model.CellScore, at: model.AtK) -> str:
    """Said where some tasks had too few testable trials for this k."""
    tasks = cell.success.tasks if cell.success is not None else at.tasks
    return f" ({at.tasks} of {tasks} tasks)" if at.tasks < tasks else ""


def _calls(cell: model.CellScore) -> list[str]:
    parts = []
    if cell.calls is not None:
        parts.append(f"median {number(cell.calls.median)}, {cell.calls.tail_name} {number(cell.calls.tail)} a trial")
    seen = [
        f"{count} {name.replace('_', ' ')}"
        for name, count in cell.errors.model_dump().items()
        if name != "calls" and count
    ]
    return [*parts, *(seen or (["no errors"] if cell.calls is not None and cell.calls.tail else []))]


def _cost(cell: model.CellScore, timings: Sequence[CellTiming]) -> list[str]:
    parts = []
    if cell.tokens is not None:
        parts.append(f"{number(cell.tokens.total)} tokens (median {number(cell.tokens.median)})")
        parts.append(money(cell.cost_usd.total) if cell.cost_usd is not None else "price unknown")
    if cell.grading_cost_usd is not None:
        parts.append(f"judges {money(cell.grading_cost_usd)}")
    if cell.user_cost_usd is not None or cell.user_price_unknown:
        user = "at an unknown price" if cell.user_cost_usd is None else money(cell.user_cost_usd)
        parts.append(f"simulated user {user}")
    for timing in timings:
        if (timing.cell, timing.split) == (cell.cell, cell.split) and timing.agent_ms is not None:
            spread = timing.agent_ms
            parts.append(f"time median {duration(spread.median)}, {spread.tail_name} {duration(spread.tail)}")
    return parts


def _listed(label: str, parts: Sequence[str]) -> list[str]:
    """Parts separated by `; `, on as many lines as they need."""
    lines: list[str] = []
    current = f"    {label:<6} " if label else "    "
    margin = " " * len(current)
    for part in (part for part in parts if part):
        addition = part if current.strip() in ("", label) else f"; {part}"
        if len(current) + len(addition) > 100 and current.strip() not in ("", label):
            lines.append(current + ";")
            current, addition = margin, part
        current += addition
    return [*lines, current] if current.strip() not in ("", label) else lines


def _matrix(page: Page, card: model.Scorecard) -> list[str]:
    """Tasks against cells: passed of testable."""
    names = list(dict.fromkeys(cell.cell for cell in card.cells))
    if len(names) > _MATRIX_COLUMNS:
        return []
    by_task: dict[str, dict[str, str]] = {}
    for row in card.rows:
        mark = " known" if row.known_failure else ""
        missing = f" ({row.untestable} ?)" if row.untestable else ""
        by_task.setdefault(row.instance, {})[row.cell] = f"{row.passed}/{row.testable}{missing}{mark}"
    columns = max(8, (68 // max(1, len(names))) - 2)
    shown_tasks = _to_show(card, list(by_task))
    rows = [("task", *(clip(name, columns) for name in names))]
    rows += [(clip(task, 30), *(by_task[task].get(name, "–") for name in names)) for task in shown_tasks]
    shown = table(rows, right=range(1, len(names) + 1))
    hidden = len(by_task) - len(shown_tasks)
    more = [f"  and {hidden} more, in mcpe score --format json"] if hidden else []
    head = page.head("TASKS") + "  passed of testable trials (? could not be tested)"
    return ["", head, *(f"  {line}" for line in shown), *more]


def _to_show(card: model.Scorecard, tasks: list[str]) -> list[str]:
    """All tasks, or of many those first that did not pass everywhere."""
    if len(tasks) <= _TASK_ROWS:
        return tasks
    failing = {row.instance for row in card.rows if row.passed < row.planned}
    chosen = set(sorted(tasks, key=lambda task: task not in failing)[:_TASK_ROWS])
    return [task for task in tasks if task in chosen]
