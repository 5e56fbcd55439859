"""Language server, at its edge: offsets of a text (code points) to the positions that the editor counts, and back.

A position is (line, character), both from 0; `character` counts units of the encoding that was agreed on. A line ends
at LF, CR LF or CR, as the protocol says; positions behind the end of a line or of the text mean that end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]

_ENDS = re.compile(r"\r\n|\n|\r")
# beyond these, a character takes more than one unit
_WIDE = {"utf-8": re.compile("[^\x00-\x7f]"), "utf-16": re.compile("[\U00010000-\U0010ffff]")}


def units(character: str, encoding: Encoding) -> int:
    """How many units one character takes."""
    code = ord(character)
    if encoding == "utf-16":
        return 1 if code < 0x10000 else 2
    if encoding == "utf-8":
        return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    return 1


class TextLines:
    """Where the lines of one text begin, and positions in it."""

    __slots__ = ("ends", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        self.ends: list[int] = []  # of the line's own text, without what ends it
        for found in _ENDS.finditer(text):
            self.ends.append(found.start())
            self.starts.append(found.end())
        self.ends.append(len(text))

    def offset(self, position: Position, encoding: Encoding) -> int:
        """The offset at a position. Inside a character that takes several units, the offset before it."""
        line, character = position
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.ends[line]
        if character <= 0:
            return start
        wide = _WIDE.get(encoding)
        if wide is None or wide.search(self.text, start, min(end, start + character)) is None:
            return min(start + character, end)
        left = character
        for offset in range(start, end):
            left -= units(self.text[offset], encoding)
            if left < 0:
                return offset
            if left == 0:
                return offset + 1
        return end

    def narrow(self, encoding: Encoding) -> bool:
        """Whether each character of the text is one unit."""
        wide = _WIDE.get(encoding)
        return wide is None or wide.search(self.text) is None

    def line(self, offset: int) -> int:
        """The line that an offset of the text is on."""
        return bisect_right(self.starts, offset) - 1

    def position(self, offset: int, encoding: Encoding) -> Position:
        """The position of an offset; one behind a line's text is at the end of that line."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        end = min(offset, self.ends[line])
        wide = _WIDE.get(encoding)
        if wide is None or wide.search(self.text, start, end) is None:
            return line, end - start
        return line, sum(units(character, encoding) for character in self.text[start:end])
