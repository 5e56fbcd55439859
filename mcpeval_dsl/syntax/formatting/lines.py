"""Formatting, beside step 3: lines as they are written, and the statements that they are of."""

from __future__ import annotations

from dataclasses import dataclass

from mcpeval_dsl.syntax.formatting.tokens import Gap

WIDTH = 120
STEP = 2


@dataclass(slots=True)
class Line:
    """`text` behind `indent` blanks. A line that `hangs` moves with the column of its statement's operands."""

    indent: int
    text: str
    comment: str = ""
    hangs: bool = False

    @property
    def width(self) -> int:
        return self.indent + len(self.text)


@dataclass(slots=True)
class Laid:
    """The lines of one statement. At `stops` (offset in the first line, what stands there) columns may be aligned.

    `apart` says that something else than a statement stands above it, `whole` that the next line may share its columns.
    """

    lines: list[Line]
    stops: list[tuple[int, str]]
    apart: bool
    whole: bool


@dataclass(slots=True)
class Writer:
    """Lines so far, the last one still open. `base` is the indentation of what is written, `hangs` goes with it."""

    lines: list[Line]
    base: int
    hangs: bool = False
    whole: bool = True
    broke: bool = False  # something was broken that the author had on one line

    @property
    def column(self) -> int:
        return self.lines[-1].width

    def put(self, text: str) -> None:
        self.lines[-1].text += text

    def line(self, indent: int) -> None:
        self.lines.append(Line(indent, "", "", self.hangs))

    def comments(self, gap: Gap, indent: int, first: bool = False) -> None:
        """The comments of a gap: the trailing one where it is, the others on lines of their own."""
        if gap.trailing:
            self.lines[-1].comment = gap.trailing
        if gap.own:
            self.lines += comment_lines(gap, indent, first, self.hangs)
            self.whole = False


def comment_lines(gap: Gap, indent: int, first: bool, hangs: bool = False) -> list[Line]:
    """The comments of a gap that have lines of their own; nothing is empty at the beginning of a block."""
    lines: list[Line] = []
    for number, (blank, comment) in enumerate(gap.own):
        if blank and not (first and number == 0):
            lines.append(Line(0, ""))
        lines.append(Line(indent, comment, "", hangs))
    return lines
