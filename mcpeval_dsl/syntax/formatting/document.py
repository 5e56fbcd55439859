"""Formatting, the whole: a text -> its canonical form, or what keeps it from having one."""

from __future__ import annotations

import re

from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.formatting.columns import comment_columns
from mcpeval_dsl.syntax.formatting.layout import lay_out
from mcpeval_dsl.syntax.formatting.lines import Line
from mcpeval_dsl.syntax.formatting.shape import shape
from mcpeval_dsl.syntax.formatting.tokens import Word, read
from mcpeval_dsl.syntax.reading import parse

_CRLF = re.compile(r"(?<!\r)\r\n")


def format_text(text: str, path: str = "spec.mcpe") -> Checked[str]:
    """The canonical form of `text`; no value, and the errors, where it cannot be read. `path` is what messages say.

    Words and comments stay as they are, except for the comma behind the last element of a bracket. Lines end as most of
    them did. Linear in the length of the text.
    """
    words = read(text)
    if words is None:
        return Checked(None, parse(SourceFile(path, text)).diagnostics)
    return Checked(written(words, text))


def written(words: list[Word], text: str) -> str:
    """The words of `text` in their canonical form."""
    lines = lay_out(shape(words))
    ending = _line_ending(text)
    parts: list[str] = []
    for line, column in zip(lines, comment_columns(lines), strict=True):
        parts.append(_line(line, column))
        # a carriage return that belongs to a text is kept apart from the line's end
        parts.append("\r\n" if line.text.endswith("\r") else ending)
    return "".join(parts)


def _line_ending(text: str) -> str:
    """How most lines end. Not counted is a carriage return more than that: it belongs to a text."""
    return "\r\n" if len(_CRLF.findall(text)) > text.count("\n") - text.count("\r\n") else "\n"


def _line(line: Line, column: int) -> str:
    text = " " * line.indent + line.text
    return text.ljust(column) + line.comment if line.comment else text
