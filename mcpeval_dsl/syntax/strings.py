"""Syntax, beside the builder: the text of a STRING, RAW or TEXT token -> its value and where each character stands."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Quote: TypeAlias = Literal['"', '"""', 'r"', 'r"""']

_ESCAPE = re.compile(r"\\(u[dD][89ABab][0-9A-Fa-f]{2}\\u[dD][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}
_OPENING_LINE = re.compile(r"[ \t\r]*\n")
_LAST_LINE = re.compile(r"(?:\r?\n|\A)([ \t]*)\Z")
_INDENT = re.compile(r"[ \t]*")


def string_value(token: str, start: int) -> tuple[str, Quote, tuple[int, ...]]:
    """(value, quote, offsets). `start` is the token's offset in the file; offsets has an entry for the end too."""
    raw = token.startswith("r")
    quotes = token[1:] if raw else token
    if quotes.startswith('"""'):
        length = len(quotes) - len(quotes.lstrip('"'))
        inner = quotes[length : len(quotes) - length]
        value, offsets = _dedented(inner, start + raw + length)
        return value, ('r"""' if raw else '"""'), offsets
    inner = quotes[1:-1]
    first = start + raw + 1
    if raw or "\\" not in inner:
        return inner, ('r"' if raw else '"'), tuple(range(first, first + len(inner) + 1))
    return _unescaped(inner, first)


def _unescaped(inner: str, first: int) -> tuple[str, Quote, tuple[int, ...]]:
    parts: list[str] = []
    offsets: list[int] = []
    position = 0
    for found in _ESCAPE.finditer(inner):
        parts.append(inner[position : found.start()])
        offsets.extend(range(first + position, first + found.start()))
        escape = found[1]
        if len(escape) > 5:  # two halves of one character beyond U+FFFF, as JSON writes it
            high, low = int(escape[1:5], 16), int(escape[7:], 16)
            parts.append(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)))
        elif len(escape) == 5:
            parts.append(chr(int(escape[1:], 16)))
        else:
            parts.append(_PLAIN.get(escape, escape))
        offsets.append(first + found.start())
        position = found.end()
    parts.append(inner[position:])
    offsets.extend(range(first + position, first + len(inner) + 1))
    return "".join(parts), '"', tuple(offsets)


def _dedented(inner: str, first: int) -> tuple[str, tuple[int, ...]]:
    """Without the line break after the opening quotes, the last line if it is blank, and the common indentation."""
    begin = 0
    opening = _OPENING_LINE.match(inner)
    if opening is None:
        return inner.replace("\r\n", "\n"), _offsets_without_cr(inner, first)
    begin = opening.end()
    end, closing_indent = len(inner), None
    last = _LAST_LINE.search(inner, begin)
    if last is not None:
        end, closing_indent = max(begin, last.start()), last[1]
    lines = inner[begin:end].split("\n")
    margin = _margin([line for line in lines if line.strip()], closing_indent)
    parts: list[str] = []
    offsets: list[int] = []
    position = first + begin
    for line in lines:
        kept = line.rstrip("\r")
        cut = margin if kept.strip() else len(kept)
        parts.append(kept[cut:])
        offsets.extend(range(position + cut, position + len(kept)))
        offsets.append(position + len(kept))
        position += len(line) + 1
    return "\n".join(parts), tuple(offsets)


def _margin(lines: list[str], closing_indent: str | None) -> int:
    """Length of the blanks that all lines, and the closing quotes, begin with."""
    indents = [found[0] for line in lines if (found := _INDENT.match(line))]
    if closing_indent is not None:
        indents.append(closing_indent)
    if not indents:
        return 0
    low, high = min(indents), max(indents)
    size = 0
    while size < len(low) and size < len(high) and low[size] == high[size]:
        size += 1
    return size


def _offsets_without_cr(inner: str, first: int) -> tuple[int, ...]:
    if "\r\n" not in inner:
        return tuple(range(first, first + len(inner) + 1))
    kept = [first + i for i, c in enumerate(inner) if not (c == "\r" and inner.startswith("\n", i + 1))]
    return (*kept, first + len(inner))
