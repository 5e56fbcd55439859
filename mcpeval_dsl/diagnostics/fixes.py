"""Diagnostics, beside the value: fixes made of a place and its new text, named by what they do."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Edit, Fix
from mcpeval_dsl.source import Span

_SHOWN = 40


def replacing(span: Span, text: str, *, safe: bool = False, title: str = "") -> Fix:
    """The text of `span` becomes `text`; an empty span inserts, an empty text removes."""
    return Fix(title or _title(span.text, text), (Edit(span.location(), text),), safe)


def without(span: Span, title: str, *, safe: bool = False) -> Fix:
    """The text without `span` and the blanks before it: with its whole lines, where nothing else stands on them."""
    text, start, end = span.file.text, span.start, span.end
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if start == 0 or text[start - 1] == "\n":
        line = text.find("\n", end)
        line = len(text) if line < 0 else line + 1
        if not text[end:line].strip():
            return replacing(Span(span.file, start, line), "", safe=safe, title=title)
        start = span.start
    return replacing(Span(span.file, start, end), "", safe=safe, title=title)


def _title(old: str, new: str) -> str:
    before, after = _short(old), _short(new)
    if after and before:
        return f"Replace `{before}` by `{after}`"
    if after or before:
        return f"Insert `{after}`" if after else f"Remove `{before}`"
    return "Insert a blank" if new else "Remove the blank"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
