"""Report, inside the text: findings and leads, each with the trials and calls that show it and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.page import Page, plural, wrapped
from mcpeval_dsl.score import model

SHOWN = 8
_EVIDENCE = 3


def findings(page: Page, card: model.Scorecard) -> list[str]:
    """What was seen again comes before what was seen once, and one of each kind before a second one."""
    lines: list[str] = []
    rows = _in_order(card.findings)
    for row in rows[:SHOWN]:
        lines += _finding(row)
    for cell in card.cells:
        if cell.saturated and cell.split == "train":
            text = f"{cell.cell}: every trial of every task passes: this suite tells nothing apart here any more"
            lines += wrapped(text, "  - ", "    ")
    hidden = len(rows) - SHOWN
    more = [f"  and {hidden} more: mcpe score --format json"] if hidden > 0 else []
    return [page.head("FINDINGS"), *lines, *more] if lines else []


def _in_order(found: Iterable[model.FindingRow]) -> list[model.FindingRow]:
    before: Counter[tuple[str, str]] = Counter()
    ranked = []
    for row in found:
        ranked.append((row.strength == "lead", before[row.strength, row.kind], row))
        before[row.strength, row.kind] += 1
    return [row for *_, row in sorted(ranked, key=lambda each: each[:2])]


def _finding(row: model.FindingRow) -> list[str]:
    seen = f" ({'lead, ' if row.strength == 'lead' else ''}{plural(row.trials, 'trial')})" if row.trials else ""
    lines = wrapped(row.text + seen, "  - ", "    ")
    if row.trials:
        lines += wrapped(f"see {shown(row)}", "    ", "    ")
    if row.change:
        lines += wrapped(f"change: {row.change}", "    ", "      ")
    return lines


def shown(row: model.FindingRow) -> str:
    """The first trials that show it, with the numbers of the calls to look at."""
    first = row.evidence or (model.FindingEvidence(trial=row.first_trial),)
    parts = [
        visible(each.trial) + (f" ({', '.join(visible(call) for call in each.calls[:4])})" if each.calls else "")
        for each in first[:_EVIDENCE]
    ]
    return ", ".join(parts) + (", …" if row.trials > len(parts) else "")


def looks(number: int) -> str:
    """How often held-out tasks have been looked at; what is chosen by looking at them is fitted to them."""
    warning = "the first run of this project that shows them" if number == 1 else "each makes them less held out"
    return f"held-out tasks: look {number} ({warning})"
