"""Command line, progress on a terminal: a table of cells that renews itself below what is said line by line."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from mcpeval_dsl.cli.tally import CellTally, Tally

_COLOURS = {"pass": "green", "wrong_answer": "red", "too_many_calls": "yellow", "untestable": "bright_black"}
_AROUND = 6
"""Lines of a terminal that are not rows of cells."""
_WIDE, _NARROW = 92, 72
"""Columns that the whole table takes, and the one without bars."""


class LiveTable:
    """Shown until `close`, which leaves nothing of it behind. `say` prints a line above it."""

    def __init__(self, tally: Tally) -> None:
        from rich.console import Console
        from rich.live import Live

        self.tally = tally
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._live = Live(
            get_renderable=self.render,
            console=self._console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()

    def render(self) -> Any:
        from rich.console import Group

        size = shutil.get_terminal_size()
        return Group(cells(self.tally, size.lines - _AROUND, size.columns), *summary(self.tally))


def cells(tally: Tally, most: int, columns: int = _WIDE) -> Table:
    """A row for each cell; of more than fit, those that are not done come first. Where it is narrow the bar is left out.

    Where it is narrower still, so are the outcomes: how far and how well stays.
    """
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from mcpeval_dsl.diagnostics.render.safe import visible

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("cell", overflow="ellipsis", no_wrap=True, max_width=34, header_style="dim")
    if columns >= _WIDE:
        table.add_column("", width=16)
    outcomes = ("✓ pass", "✗ wrong", "» calls", "? untest.") if columns >= _NARROW else ()
    for name in ("done", *outcomes, "so far"):
        table.add_column(name, justify="right", no_wrap=True, header_style="dim")
    shown = list(tally.cells.items())
    if len(shown) > max(1, most):
        shown = sorted(shown, key=lambda item: item[1].done >= item[1].planned)[: max(1, most - 1)]
    for name, cell in shown:
        bar = [ProgressBar(total=max(1, cell.planned), completed=cell.done, width=16)] if columns >= _WIDE else []
        counts = _counts(cell) if outcomes else []
        table.add_row(Text(visible(name)), *bar, f"{cell.done}/{cell.planned}", *counts, _rate(cell))
    if len(shown) < len(tally.cells):
        table.add_row(Text(f"and {len(tally.cells) - len(shown)} more", style="dim"))
    return table


def _counts(cell: CellTally) -> list[Any]:
    from rich.text import Text

    return [
        Text(str(count), style=colour) if (count := cell.outcomes.get(word, 0)) else Text("·", style="dim")
        for word, colour in _COLOURS.items()
    ]


def _rate(cell: CellTally) -> str:
    return f"{cell.passed / cell.testable * 100:.0f} %" if cell.testable else "–"


def summary(tally: Tally) -> list[Any]:
    """How far, how long, how dear; then what was run into."""
    from rich.text import Text

    from mcpeval_dsl.cli.tally import clock

    left = tally.left()
    parts = [f"{tally.done}/{tally.due} trials", tally.spending()]
    if left is not None and tally.done < tally.due:
        parts.append(f"about {clock(left)} left")
    lines = [Text(" · ".join(filter(None, parts)))]
    limits = " · ".join(tally.limits())
    return [*lines, Text(limits, style="yellow")] if limits else lines
