"""Command line, the last thing before the terminal: characters that it or a reader's eye would obey are written as escapes.

What prints text makes it visible itself; this catches what is printed as it is, JSON above all, where `\\u202e` is the same
value. Colours and the progress line need ESC and carriage returns: those pass, and JSON spells its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# DEL and C1 controls, bidirectional marks, line separators, invisible tags, lone surrogates.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")


def shown(text: str) -> str:
    """The text with such characters as JSON would escape them."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _OBEYED.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + ((code - 0x10000) >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class _Stream:
    """A text stream whose writes are shown, in all else the stream behind it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shown(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def shown_output() -> Iterator[None]:
    """Standard output and standard error of the block are shown, not obeyed."""
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Stream(stream)) for stream in kept)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept
