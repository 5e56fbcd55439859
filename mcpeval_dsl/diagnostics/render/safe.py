"""Diagnostics, inside rendering: text from specs and servers made safe to print on a terminal."""

from __future__ import annotations

import re

# C0 and C1 controls except tab, DEL, bidirectional marks (Trojan Source, CVE-2021-42574), line separators, zero-width
# characters, invisible tags and lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` on one line, with control and direction characters written as `<U+202E>`."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def visible_lines(text: str) -> str:
    """The same, line breaks kept."""
    return "\n".join(visible(line) for line in text.split("\n"))


def width(text: str) -> int:
    """Columns a terminal uses: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
