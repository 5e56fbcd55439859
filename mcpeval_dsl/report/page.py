"""Report, shared by what is printed: numbers as people read them, columns, colours; nothing unsafe reaches a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.render.safe import visible, width

WIDTH = 100
_COLOURS = {"good": "32;1", "bad": "31;1", "unsure": "33;1", "dim": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Page:
    """How to print; `run` is the run's name in the commands shown."""

    run: str
    colour: bool = False

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.colour and text else text

    def word(self, gate: str) -> str:
        return self.paint(gate, {"PASS": "good", "FAIL": "bad"}.get(gate, "unsure"))

    def head(self, text: str) -> str:
        return self.paint(text, "bold")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f} %"


def interval(low: float | None, high: float | None) -> str:
    return "no interval" if low is None or high is None else f"[{low * 100:.1f}, {high * 100:.1f}]"


def span(low: float | None, high: float | None) -> str:
    """The interval of a difference of shares, in points with their signs."""
    return "no interval" if low is None or high is None else f"[{points(low)}, {points(high)}]"


def points(value: float) -> str:
    """A difference of shares, in percentage points with its sign."""
    return f"{value * 100:+.1f}".replace("-", "−")


def number(value: float) -> str:
    """Whole numbers whole, others with at most three decimals; thousands apart."""
    if float(value).is_integer():
        return f"{int(value):,}".replace(",", " ")
    return f"{value:,.3f}".rstrip("0").rstrip(".").replace(",", " ")


def money(value: float) -> str:
    return f"${value:.4f}" if 0 < abs(value) < 0.1 else f"${value:.2f}"


def duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def plural(count: int, noun: str) -> str:
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}es" if noun.endswith("s") else f"{count} {noun}s"


def clip(text: str, columns: int) -> str:
    """One line of at most so many columns."""
    line = visible(" ".join(text.split()))
    if width(line) <= columns:
        return line
    cut = line[: max(1, columns - 1)]
    while width(cut) > columns - 1:
        cut = cut[:-1]
    return cut + "…"


def table(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Rows in columns two blanks apart; columns in `right` end together."""
    if not rows:
        return []
    ends = set(right)
    sizes = [max(width(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            " " * (size - width(cell)) + cell if i in ends else cell + " " * (size - width(cell))
            for i, (cell, size) in enumerate(zip(row, sizes, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    from textwrap import wrap

    return wrap(
        visible(" ".join(text.split())),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=True,
        break_on_hyphens=False,
    )
