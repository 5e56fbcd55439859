"""Report: what the checks of each server came to; every line that does not pass, with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.page import Page, clip, plural, wrapped
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import CheckTiming

_SHOWN = 20
_WORD = {"fail": "FAIL", "partial": "PARTIAL", "unsupported": "UNSUPPORTED", "not tested": "NOT TESTED"}


def checks(page: Page, rows: Sequence[model.CheckRow], latencies: Sequence[CheckTiming] = ()) -> list[str]:
    """Nothing where the suite has no check."""
    if not rows:
        return []
    lines = [page.head("CHECKS")]
    for row in rows:
        passed = sum(line.state == "pass" for line in row.lines)
        lines.append(f"  {visible(row.server)}: {passed} of {plural(row.planned, 'line')} pass")
        others = [line for line in row.lines if line.state != "pass"]
        for line in others[:_SHOWN]:
            lines += _line(page, line)
        if len(others) > _SHOWN:
            lines.append(f"    and {len(others) - _SHOWN} more: mcpe score --format json")
        if not row.lines:
            lines.append("    not carried out")
        for one in latencies:
            lines += wrapped(timed(one), "    ", "      ") if one.server == row.server else []
    return lines


def timed(timing: CheckTiming) -> str:
    """What was measured on a line `latency`, whether it passed or not."""
    found = ", ".join(f"{name} {value:.4g} ms" for name, value in timing.measured.items())
    return f"{timing.what}: {found}"


def _line(page: Page, line: model.CheckLineRow) -> list[str]:
    word = _WORD[line.state]
    shown = [f"    {word:<12}{clip(line.what, 60)}".replace(word, page.word(word), 1)]
    if line.state == "fail":
        got = f"got {line.actual}, " if line.actual else ""
        shown.append(f"{'':16}{clip(f'{got}expected {line.expected}', 82)}")
    if line.reason:
        shown.append(f"{'':16}{clip(line.reason, 82)}")
    if line.at:
        shown.append(f"{'':16}{page.paint(visible(line.at), 'dim')}")
    return shown


__all__ = ["checks", "timed"]
