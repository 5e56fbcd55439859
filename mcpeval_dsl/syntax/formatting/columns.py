"""Formatting, step 4: columns are aligned within runs of adjacent lines, and so are the comments behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mcpeval_dsl.syntax.formatting.lines import WIDTH, Laid, Line

_ALIKE = 2


def align(items: Sequence[Laid | Line]) -> list[Line]:
    """The lines of a block's statements, and of what stands between them."""
    for run in _runs(items):
        _level(run, 0)
    lines: list[Line] = []
    for item in items:
        if isinstance(item, Laid):
            lines += item.lines
        else:
            lines.append(item)
    return lines


def _runs(items: Sequence[Laid | Line]) -> Iterator[list[Laid]]:
    """Statements on adjacent lines. One that is broken is the last of its run."""
    run: list[Laid] = []
    for item in items:
        if not isinstance(item, Laid):
            continue
        if run and (item.apart or not run[-1].whole or _strangers(run[-1], item)):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def _strangers(first: Laid, second: Laid) -> bool:
    """At the top level: statements share columns that have the same word, or are declarations on one line each, with
    words about as long."""
    if first.lines[0].indent or not first.stops or not second.stops:
        return False
    words = [laid.lines[0].text[: laid.stops[0][0]] for laid in (first, second)]
    if words[0] == words[1]:
        return False
    declare = all(laid.stops[-1][1] == "{" for laid in (first, second))
    return not declare or abs(len(words[0]) - len(words[1])) > _ALIKE


def _level(run: Sequence[Laid], level: int) -> None:
    """Align the stops of one level, and those behind them, wherever adjacent lines have the same there.

    Lines without any, such as calls and words with a block only, neither take part nor part others. A statement that goes
    on below its line never widens a column: it is the last of its run.
    """
    taking_part = [laid for laid in run if laid.stops]
    for key, members in groupby(taking_part, lambda laid: laid.stops[level][1] if level < len(laid.stops) else ""):
        group = list(members)
        if not key or len(group) < 2:
            continue
        if key == "cell":
            _cells(group, level)
            continue
        width = max((laid.stops[level][0] for laid in group if laid.whole), default=0)
        for laid in group:
            _pad(laid, level, width - laid.stops[level][0])
        _level(group, level + 1)


def _pad(laid: Laid, level: int, blanks: int) -> None:
    if blanks <= 0:
        return
    offset, key = laid.stops[level]
    first = laid.lines[0]
    first.text = first.text[:offset] + " " * blanks + first.text[offset:]
    laid.stops[level + 1 :] = [(at + blanks, what) for at, what in laid.stops[level + 1 :]]
    if key == "operand":
        for line in laid.lines:
            line.indent += blanks if line.hangs else 0


def _cells(rows: Sequence[Laid], level: int) -> None:
    """The cells of a table, unless its lines got too wide for it."""
    cells = [_cut(row, level) for row in rows]
    widths: list[int] = []
    for row in cells:
        widths.extend([0] * (len(row) - 1 - len(widths)))
        for number, cell in enumerate(row[:-1]):
            widths[number] = max(widths[number], len(cell))
    texts = [
        "".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) + row[-1] for row in cells
    ]
    if max(laid.lines[0].indent + len(text) for laid, text in zip(rows, texts, strict=True)) > WIDTH:
        return
    for laid, text in zip(rows, texts, strict=True):
        laid.lines[0].text = text


def _cut(row: Laid, level: int) -> list[str]:
    text = row.lines[0].text
    ends = [offset for offset, _ in row.stops[level:]]
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def comment_columns(lines: Sequence[Line]) -> list[int]:
    """For each line the column at which its comment begins: two blanks behind the widest line of a run of them."""
    columns: list[int] = []
    for _, members in groupby(lines, lambda line: line.indent if line.comment else None):
        run = list(members)
        column = 2 + max(line.width for line in run)
        fits = all(column + len(line.comment) <= WIDTH for line in run)
        columns += [column if fits else line.width + 2 for line in run]
    return columns
