"""Report, the Markdown: how far each judge is to be believed."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.report.marking import code, plain, rows
from mcpeval_dsl.report.page import percent
from mcpeval_dsl.report.text_judges import named, word_of
from mcpeval_dsl.score.judge_model import Bounded, JudgeScore


def judges(found: Sequence[JudgeScore]) -> list[str]:
    """Nothing where no task asks a judge."""
    if not found:
        return []
    head = ("judge", "κ [95 %]", "agreement", "sensitivity", "specificity", "answers", "what follows")
    table = [
        (
            code(named(row)),
            _kappa(row.kappa),
            *(percent(each.value) if each is not None else "–" for each in _shares(row)),
            str(row.kappa.of if row.kappa is not None else 0),
            plain(word_of(row) + (f": {row.reason}" if row.reason else "")),
        )
        for row in found
    ]
    return ["## Judges", "", *rows(head, table, right=(2, 3, 4, 5))]


def _shares(row: JudgeScore) -> tuple[Bounded | None, ...]:
    return row.agreement, row.sensitivity, row.specificity


def _kappa(kappa: Bounded | None) -> str:
    if kappa is None:
        return "–"
    bounds = "" if kappa.low is None or kappa.high is None else f" [{kappa.low:.2f}, {kappa.high:.2f}]"
    return f"{kappa.value:.2f}{bounds}"
