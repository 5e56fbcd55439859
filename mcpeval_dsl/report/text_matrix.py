"""Report: groups of tasks against cells, and what one arm, model or version gains over another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mcpeval_dsl.diagnostics.render.safe import width
from mcpeval_dsl.report.page import Page, clip, duration, money, number, percent, plural, points, table, wrapped
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import TimeOverhead

_COLUMNS = 5
_WIDTH = 70
_ROWS = 30
_SHOW = {"cost_usd": money, "calls": number, "tokens": number, "agent_ms": duration}
_CALLED = {"cost_usd": "cost", "calls": "calls", "tokens": "tokens", "agent_ms": "time"}


def matrix(page: Page, card: model.Scorecard) -> list[str]:
    """Success and n of each group in each cell; nothing where there is but one group."""
    names = list(dict.fromkeys(entry.cell for entry in card.matrix))
    by_group: dict[str, dict[str, model.GroupScore]] = {}
    held = len({entry.split for entry in card.matrix}) > 1
    for entry in card.matrix:
        group = entry.group or "all tasks"
        by_group.setdefault(f"{group} ({entry.split})" if held else group, {})[entry.cell] = entry
    if len(by_group) < 2:
        return []
    lines = [page.head("MATRIX") + f"  success and n; against {clip(names[0], 30)}: + better, - worse; ~ inconclusive"]
    many = min(_COLUMNS, max(1, _WIDTH // (max(width(name) for name in names) + 2)))
    for start in range(0, len(names), many):
        chosen = names[start : start + many]
        columns = max(12, _WIDTH // len(chosen) - 2)
        rows = [("group", *(clip(name, columns) for name in chosen))]
        rows += [
            (clip(group, 26), *(_entry(of.get(name)) for name in chosen))
            for group, of in list(by_group.items())[:_ROWS]
        ]
        lines += [f"  {line}" for line in table(rows, right=range(1, len(chosen) + 1))]
    hidden = len(by_group) - _ROWS
    return [*lines, f"  and {hidden} more groups: mcpe report --format json"] if hidden > 0 else lines


def _entry(entry: model.GroupScore | None) -> str:
    if entry is None or entry.success is None:
        return "–"
    word = entry.difference.word if entry.difference is not None else ""
    mark = {"better": "+", "worse": "-"}.get(word, "") + ("~" if entry.inconclusive else "")
    return f"{mark} {percent(entry.success.value)} /{entry.trials}".strip()


def comparisons(page: Page, card: model.Scorecard, times: Sequence[TimeOverhead] = ()) -> list[str]:
    """`times` are measured, and so no part of the scorecard."""
    lines: list[str] = []
    for each in card.comparisons:
        lines += [*([""] if lines else []), *_comparison(page, each, times)]
    return lines


def _comparison(page: Page, each: model.ComparisonScore, times: Sequence[TimeOverhead]) -> list[str]:
    head = "LIFT" if each.kind == "lift" else "COMPARED"
    lines = [
        page.head(head) + f"  {clip(f'{each.treatment} over {each.baseline}', 60)}: {each.measure}, paired by task"
    ]
    for row in each.rows[:_ROWS]:
        lines += _row(page, row, next((time for time in times if _same(time, row)), None))
    if len(each.rows) > _ROWS:
        lines.append(f"  and {len(each.rows) - _ROWS} more: mcpe report --format json")
    lines += [f"  {line}" for line in _arms(each.arms)]
    return [*lines, *(line for note in each.notes for line in wrapped(note, "  note: ", "        "))]


def _same(time: TimeOverhead, row: model.ComparisonRow) -> bool:
    places = [(one.treatment_cell, one.baseline_cell, one.split, one.group) for one in (time, row)]
    return places[0] == places[1]


def _row(page: Page, row: model.ComparisonRow, time: TimeOverhead | None) -> Iterator[str]:
    parts = [row.agent or row.treatment_cell, row.group, row.split if row.split != "train" else ""]
    name = clip(" · ".join(filter(None, parts)), 40)
    delta = row.difference
    if delta is None:
        yield f"  {name:<40}  nothing could be tested on both sides"
        return
    style = {"better": "good", "worse": "bad"}.get(delta.word, "unsure")
    between = (
        "no interval" if delta.low is None or delta.high is None else f"[{points(delta.low)}, {points(delta.high)}]"
    )
    yield f"  {name:<40}  {points(delta.value):>6} points {between:<16} {page.paint(delta.word, style)}"
    yield from _facts(_about(row, delta))
    yield from _facts(_overheads(row.overheads, time))


def _about(row: model.ComparisonRow, delta: model.Delta) -> list[str]:
    sides = [percent(side.value) if side is not None else "–" for side in (row.treatment, row.baseline)]
    facts = [
        f"{sides[0]} over {sides[1]}",
        plural(delta.tasks, "task"),
        f"n {delta.treatment_trials} + {delta.baseline_trials}",
    ]
    if delta.p_adjusted is not None:
        facts.append(f"p {delta.p_adjusted:.2g} ({delta.adjusted_by})")
    elif delta.p is not None:
        facts.append(f"p {delta.p:.2g}")
    if delta.word == "no difference shown" and delta.detectable is not None:
        facts.append(f"could have seen {delta.detectable * 100:.1f}")
    left = len(row.only_treatment) + len(row.only_baseline)
    return [*facts, f"{plural(left, 'task')} on one side only"] if left else facts


def _overheads(overheads: Sequence[model.Overhead], time: TimeOverhead | None) -> list[str]:
    found = []
    for over in overheads:
        show, name = _SHOW[over.what], _CALLED[over.what]
        if over.value is None:
            found.append(f"{name} unknown" if over.what == "cost_usd" else "")
            continue
        found.append(f"{name} {_signed(over.value, show)}")
    if time is not None:
        found.append(f"time {_signed(time.value, duration)}")
    found = [each for each in found if each]
    return [f"overhead of medians: {found[0]}", *found[1:]] if found else []


def _signed(value: float, show: Callable[[float], str]) -> str:
    """What rounds to nothing has no sign."""
    size = show(abs(value))
    sign = "±" if size == show(0.0) else "+" if value > 0 else "−"
    return f"{sign}{size}"


def _facts(facts: Sequence[str]) -> Iterator[str]:
    if facts:
        yield f"{'':6}{clip('; '.join(facts), 92)}"


def _arms(arms: Sequence[model.ArmScore]) -> Iterator[str]:
    for arm in arms:
        used = "" if arm.mcp_use is None else f"; a server called in {percent(arm.mcp_use)} of {arm.trials} trials"
        native = ", ".join(arm.tools) or "none"
        servers = ", ".join(arm.servers) or "none"
        yield clip(f"{arm.cell}: servers {servers}; native tools {native}{used}", 96)
