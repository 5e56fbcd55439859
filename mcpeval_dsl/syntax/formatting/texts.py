"""Formatting, beside step 3: a text of several lines -> its lines, such that a new indentation leaves its value alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from mcpeval_dsl.syntax.strings import string_value

_OPENING = re.compile(r'r?"+')


class TextLines(NamedTuple):
    """`first` stands on the line where the text begins; each of `rest` is indented, unless the text is `rigid`."""

    first: str
    rest: tuple[str, ...]
    rigid: bool


def text_lines(token: str) -> TextLines:
    """The lines of a TEXT token. One whose value the indentation belongs to is rigid: it stays as it is written."""
    opening = _OPENING.match(token)
    assert opening is not None, "a TEXT begins with quotes"
    fence = opening[0].lstrip("r")
    value = string_value(token, 0)[0]
    inner = token[opening.end() : -len(fence)]
    if not inner.lstrip(" \t\r").startswith("\n"):
        return _rigid(token)
    last = inner[inner.rindex("\n") + 1 :]
    lines = value.split("\n")
    if last.strip(" \t"):
        lines[-1] += fence
    else:
        lines = [*lines, fence] if inner.count("\n") > 1 else [fence]
    found = TextLines(opening[0], tuple(lines), False)
    again = "\n".join([found.first, *("  " + line if line else "" for line in found.rest)])
    return found if string_value(again, 0)[0] == value else _rigid(token)


def _rigid(token: str) -> TextLines:
    *lines, last = token.split("\n")
    first, *rest = [*(line.removesuffix("\r") for line in lines), last]
    return TextLines(first, tuple(rest), True)
