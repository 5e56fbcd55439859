"""Report: what failed, at the line of the spec that expects it, and what could not be tested; each with what to do next."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.causes import in_words
from mcpeval_dsl.report.page import Page, clip, plural, wrapped
from mcpeval_dsl.score import model
from mcpeval_dsl.source import SourceFile

SourceOf = Callable[[str], SourceFile | None]
_SHOWN = 12


def failures(page: Page, card: model.Scorecard, source_of: SourceOf) -> list[str]:
    if not card.failures:
        return []
    count = sum(cell.counts.wrong_answer + cell.counts.too_many_calls + cell.counts.unsafe for cell in card.cells)
    lines = [f"{page.head('FAILED')}  {plural(count, 'trial')}"]
    for row in card.failures[:_SHOWN]:
        lines += _failure(page, card, row, source_of)
    hidden = len(card.failures) - _SHOWN
    return [*lines, f"  and {hidden} more: mcpe score --format json"] if hidden > 0 else lines


def _failure(page: Page, card: model.Scorecard, row: model.FailureRow, source_of: SourceOf) -> list[str]:
    known = " (known failure)" if row.known_failure is not None else ""
    what = f"{row.instance} in {row.cell}: {row.outcome}{known}, {plural(row.trials, 'trial')}"
    lines = [f"  {page.paint(clip(what, 96), 'bold')}"]
    if row.at:
        lines += _quoted(page, row.at, source_of)
    lines += [f"    expected  {clip(row.expected, 86)}"] if row.expected else []
    lines += [f"    actual    {clip(row.actual, 86)}"] if row.actual else []
    if row.reason:
        lines += wrapped(row.reason, "    ")
    kinds = [row.failure_kind or ""]
    if row.every_call_succeeded and "every call" not in kinds[0] and row.outcome == "wrong_answer":
        kinds.append("every call succeeded")
    if any(kinds):
        layer = f" (layer: {row.layer})" if row.layer else ""
        lines.append(f"    {clip('; '.join(filter(None, kinds)) + layer, 94)}")
    run, trial = visible(page.run), visible(row.first_trial)
    lines.append(f"    look    mcpe view {run} {trial}")
    lines.append(f"    replay  mcpe replay {run} {trial}")
    lines.append(f"    again   mcpe run {visible(card.spec)} --select task:{visible(row.task)}")
    return lines


def _quoted(page: Page, at: str, source_of: SourceOf) -> list[str]:
    path, line, *_ = (*at.rsplit(":", 2), "", "")
    source = source_of(path) if line.isdigit() else None
    lines = [f"    {page.paint(visible(at), 'dim')}"]
    if source is not None and int(line) <= len(source.lines.starts):
        lines.append(f"    | {clip(source.line_text(int(line)), 92)}")
    return lines


def untestable(page: Page, card: model.Scorecard) -> list[str]:
    if not card.untestable:
        return []
    count = sum(row.trials for row in card.untestable)
    lines = [f"{page.head('NOT TESTED')}  {plural(count, 'trial')}, counted neither for nor against the agent"]
    for row in card.untestable[:_SHOWN]:
        chain = " → ".join(in_words(cause) for cause in row.because)
        lines.append(f"  {clip(chain, 80)}: {plural(row.trials, 'trial')}")
        lines.append(f"    mcpe view {visible(page.run)} {visible(row.first_trial)}")
        if row.worth_a_rerun:
            lines.append("    the same `mcpe run` tries these again")
    return lines
