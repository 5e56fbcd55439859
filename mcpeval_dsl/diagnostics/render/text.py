"""Diagnostics, shown to a person: the source line, a caret, the rule and one edit.

error[MCPE115]: `20sec` is not a number of this language
  --> specs/tracker.mcpe:8:11
    |
  8 |   timeout 20sec
    |           ^^^^^
    = Units are ms s m h d (time) …
    = hint: write 20s
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import environ
from typing import TextIO

from mcpeval_dsl.diagnostics.model import Diagnostic, Severity
from mcpeval_dsl.diagnostics.ordering import count
from mcpeval_dsl.diagnostics.render.safe import visible, visible_lines, width
from mcpeval_dsl.source import Location, SourceFile

SourceOf = Callable[[str], SourceFile | None]
_COLOURS: dict[str, str] = {"error": "31;1", "warning": "33;1", "note": "36;1", "bold": "1", "dim": "2"}
_LONGEST_LINE = 160


def wants_colour(stream: TextIO) -> bool:
    """On a terminal, unless NO_COLOR is set (no-color.org) or TERM says dumb."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def render(diagnostic: Diagnostic, source_of: SourceOf, *, colour: bool = False) -> str:
    """One diagnostic as several lines, without a final newline. `source_of` gives the text of a path, if it has it."""
    paint = _painter(colour)
    title = visible(diagnostic.title)
    lines = [f"{paint(f'{diagnostic.severity}[{diagnostic.code}]', diagnostic.severity)}: {paint(title, 'bold')}"]
    places = [(diagnostic.at, "")] if diagnostic.at else []
    places += [(label.at, label.text) for label in diagnostic.labels]
    margin = max((len(str(at.line)) for at, _ in places), default=1)
    for number, (at, text) in enumerate(places):
        lines += _excerpt(at, text, source_of(at.path), margin, paint, diagnostic.severity if number == 0 else "note")
    bar = " " * margin + " = "
    if diagnostic.body:
        lines += [bar + line for line in visible_lines(diagnostic.body).split("\n")]
    if diagnostic.hint:
        lines.append(bar + paint("hint: ", "bold") + visible(diagnostic.hint))
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic], source_of: SourceOf, *, colour: bool = False) -> str:
    """All diagnostics, blank lines between them, and a last line that counts them. Empty for none."""
    shown = list(diagnostics)
    if not shown:
        return ""
    blocks = [render(diagnostic, source_of, colour=colour) for diagnostic in shown]
    return "\n\n".join([*blocks, summary(shown)]) + "\n"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; how to read more about a code."""
    numbers = count(diagnostics)
    parts = [f"{n} {word}{'s' if n != 1 else ''}" for word, n in numbers.items() if n]
    return ", ".join(parts) + " (mcpe explain CODE says more about each)"


def _painter(colour: bool) -> Callable[[str, str], str]:
    if not colour:
        return lambda text, _: text
    return lambda text, style: f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"


def _excerpt(
    at: Location,
    text: str,
    file: SourceFile | None,
    margin: int,
    paint: Callable[[str, str], str],
    style: Severity,
) -> list[str]:
    """Arrow, source line and caret; only the arrow where the text is not at hand."""
    arrow = f"{' ' * margin}{paint('-->', 'dim')} {visible(str(at))}"
    if file is None or at.line > len(file.lines.starts):
        return [arrow + (f": {visible(text)}" if text else "")]
    line = file.line_text(at.line).replace("\t", " ")
    first = min(at.column - 1, len(line))
    last = min(at.end_column - 1, len(line)) if at.end_line == at.line else len(line)
    if len(line) > _LONGEST_LINE:
        cut = max(0, first - _LONGEST_LINE // 2)
        line, first, last = line[cut : cut + _LONGEST_LINE], first - cut, min(last - cut, _LONGEST_LINE)
    blank = " " * width(visible(line[:first]))
    caret = "^" * max(1, width(visible(line[first : max(first, last)])))
    gutter = f"{' ' * margin} {paint('|', 'dim')}"
    note = f" {visible(text)}" if text else ""
    return [
        arrow,
        gutter,
        f"{at.line:>{margin}} {paint('|', 'dim')} {visible(line)}",
        f"{gutter} {blank}{paint(caret + note, style)}",
    ]
