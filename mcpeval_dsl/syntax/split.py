"""Syntax, step 1: text of a file -> top-level pieces, each parsed and cached by itself.

Cuts are made at column-0 words outside texts. While brackets balance, only between balanced pieces, so a file that is
right is read right whatever its layout; where they do not, at every column-0 word, so an error stays in its piece.
Where fences (`\"\"\"`) do not pair up one is lost: a text that runs over a column-0 header line then ends before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax.tables import terminal

_FENCE = re.compile(r'"{3,}')
_HEADER = re.compile(r"^[A-Za-z_]\w*(?:-\w+)*(?:[ \t][^\n]*)?\{", re.MULTILINE)
_OPENERS = "{(["


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
        self.by_length: dict[int, list[int]] = {}
        for match in _FENCE.finditer(text):
            self.by_length.setdefault(match.end() - match.start(), []).append(match.start())
        self.headers: list[int] = []
        self.lost = False

    def end(self, start: int, length: int) -> int:
        # None are known where a quote before the fence belongs to a text of its own: `"a""""b`.
        starts = self.by_length.get(length, [])
        following = bisect_left(starts, start + length)
        closed = following < len(starts)
        self.lost = self.lost or not closed
        end = starts[following] + length if closed else self.size
        header = bisect_left(self.headers, start)
        return min(end, self.headers[header]) if header < len(self.headers) else end


def split(text: str) -> list[Piece]:
    """Pieces that cover `text` without a gap. Linear in its length."""
    return split_telling(text)[0]


def split_telling(text: str) -> tuple[list[Piece], bool]:
    """The same, and whether everything in the text pairs up.

    Where it does, and does so in a text that begins with one of the pieces, both put together have the pieces of both: so an
    editor splits only the region that was typed in.
    """
    fences = _Fences(text)
    words, depth = _walk(text, fences)
    lost = fences.lost
    if lost:
        fences.headers = [m.start() for m in _HEADER.finditer(text)]
        words, depth = _walk(text, fences)
    return _cut(len(text), words, depth), not lost and depth == 0 and all(depth >= 0 for _, depth in words)


def _walk(text: str, fences: _Fences) -> tuple[list[tuple[int, int]], int]:
    """Offset and bracket depth of each column-0 word outside texts, and the depth at the end."""
    match = _pattern().search
    words: list[tuple[int, int]] = []
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
    return words, depth


def _cut(size: int, words: list[tuple[int, int]], final_depth: int) -> list[Piece]:
    """Cut at the words outside all brackets; at every word where brackets do not pair up."""
    cuts = [0]
    if all(depth >= 0 for _, depth in words) and final_depth == 0:
        cuts += [offset for offset, depth in words if depth == 0 and offset]
    else:
        cuts += [offset for offset, depth in words if offset]
    return [Piece(start, end) for start, end in zip(cuts, [*cuts[1:], size], strict=True)]
