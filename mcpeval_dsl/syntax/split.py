"""Syntax, step 1: text of a file -> top-level pieces, each parsed and cached by itself.

Cuts are made at column-0 words outside texts. While brackets balance, only between balanced pieces, so a file that is
right is read right whatever its layout; where they do not, at every column-0 word, so an error stays in its piece.
With an odd number of fences (`\"\"\"`) one is lost: a text that runs over a column-0 header line then ends before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

from mcpeval_dsl.syntax.tables import terminal

_FENCE = re.compile(r'"{3,}')
_HEADER = re.compile(r"^[A-Za-z_]\w*(?:-\w+)*(?:[ \t][^\n]*)?\{", re.MULTILINE)
_OPENERS, _CLOSERS = "{([", "})]"


@dataclass(frozen=True, slots=True)
class Piece:
    """Text from `start` to `end` of the file; it holds one top-level statement, with what stands before the next."""

    start: int
    end: int


@cache
def _pattern() -> re.Pattern[str]:
    regex, path = terminal("REGEX").pattern, terminal("JSONPATH").pattern
    return re.compile(
        rf'#[^\n]*|r?(?P<fence>"{{3,}})|r"[^"\n]*"?|"(?:\\.|[^"\\\n])*"?|{regex}|{path}'
        r"|(?P<bracket>[{}()\[\]])|(?P<word>^[A-Za-z_])",
        re.MULTILINE,
    )


class _Fences:
    """Where the text opened by a fence ends: behind an equal fence, or, if one is lost, before a header line."""

    def __init__(self, text: str) -> None:
        self.size = len(text)
        by_length: dict[int, list[int]] = {}
        count = 0
        for match in _FENCE.finditer(text):
            by_length.setdefault(match.end() - match.start(), []).append(match.start())
            count += 1
        self.by_length = by_length
        self.headers = [m.start() for m in _HEADER.finditer(text)] if count % 2 else []

    def end(self, start: int, length: int) -> int:
        starts = self.by_length[length]
        following = bisect_left(starts, start + length)
        end = starts[following] + length if following < len(starts) else self.size
        header = bisect_left(self.headers, start)
        return min(end, self.headers[header]) if header < len(self.headers) else end


def split(text: str) -> list[Piece]:
    """Pieces that cover `text` without a gap. Linear in its length."""
    fences = _Fences(text)
    match = _pattern().search
    words: list[tuple[int, int]] = []  # (offset of a column-0 word, bracket depth there)
    depth = position = 0
    while found := match(text, position):
        position = found.end()
        kind = found.lastgroup
        if kind == "fence":
            position = fences.end(found.start("fence"), position - found.start("fence"))
        elif kind == "bracket":
            depth = depth + 1 if found[0] in _OPENERS else depth - 1
        elif kind == "word":
            words.append((found.start(), depth))
    return _cut(len(text), words, depth)


def _cut(size: int, words: list[tuple[int, int]], final_depth: int) -> list[Piece]:
    """Cut at every word whose depth the rest of the file never falls below or stays above: balanced on both sides."""
    cuts = [0]
    if all(depth >= 0 for _, depth in words) and final_depth == 0:
        cuts += [offset for offset, depth in words if depth == 0 and offset]
    else:
        cuts += [offset for offset, depth in words if offset]
    return [Piece(start, end) for start, end in zip(cuts, [*cuts[1:], size], strict=True)]
