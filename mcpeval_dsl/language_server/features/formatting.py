"""Language server, formatting: the edits that give a file, or a range of it, its canonical form.

What empty lines at the top level part is laid out by itself, and kept for as long as its text stays: at ten thousand
lines the whole takes half a second, and after a keystroke all but one such stretch are as they were.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from mcpeval_dsl.language_server.parts import Body, once
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.formatting import Replacement, format_edits
from mcpeval_dsl.syntax.formatting.tokens import Pieces
from mcpeval_dsl.syntax.parser import ParsedPiece

RECENT = 2_000_000  # characters of stretches that are kept with their layout
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
# behind a statement, such a first word is kept apart by `;`, so that it is not read as an operator
_JOINED = re.compile(r"(?:in|has|under|not)\b")


class Stretch(NamedTuple):
    """Text from `start` to `end`, its last line break among it; up to the next one there are empty lines only."""

    start: int
    end: int


def formatting(snapshot: Snapshot, within: tuple[int, int] | None = None) -> tuple[Replacement, ...]:
    """Replacements in order; none where the file has syntax errors, which its diagnostics tell.

    `within` is a range of offsets: only replacements that touch it.
    """
    if any(broken(part.body) for part in snapshot.parts):
        return ()
    if _as_a_whole(snapshot.text):
        found = laid_out(snapshot.text, ((part.start, part.body.parsed) for part in snapshot.parts))
    else:
        found = tuple(_edits(snapshot))
    return tuple(edit for edit in found if within is None or _touches(edit, within))


def _as_a_whole(text: str) -> bool:
    """Whether what is right in one stretch depends on others: lines end as most of them do."""
    return "\r" in text or text.startswith("\ufeff")


def to_lay_out(snapshot: Snapshot) -> int:
    """How many characters were not laid out yet."""
    if any(broken(part.body) for part in snapshot.parts):
        return 0
    if _as_a_whole(snapshot.text):
        return 0 if snapshot.text in laid_out else len(snapshot.text)
    return sum(s.end - s.start for s in stretches(snapshot) if snapshot.text[s.start : s.end] not in laid_out)


def laying_out(snapshot: Snapshot) -> Iterator[None]:
    """Lay out each stretch, in steps. Asked for afterwards, the edits are there at once."""
    if any(broken(part.body) for part in snapshot.parts) or _as_a_whole(snapshot.text):
        return
    for stretch in stretches(snapshot):
        laid_out(snapshot.text[stretch.start : stretch.end], _pieces(snapshot, stretch))
        yield


@once
def broken(body: Body) -> bool:
    return any(problem.severity == "error" for problem in body.problems)


def _touches(edit: Replacement, within: tuple[int, int]) -> bool:
    return edit.start <= within[1] and within[0] <= edit.end


def _edits(snapshot: Snapshot) -> Iterator[Replacement]:
    text = snapshot.text
    found = stretches(snapshot)
    if not found:
        yield from format_edits(text, snapshot.path).value or ()
        return
    if found[0].start:
        yield Replacement(0, found[0].start, "")
    for number, stretch in enumerate(found):
        for edit in laid_out(text[stretch.start : stretch.end], _pieces(snapshot, stretch)):
            yield Replacement(stretch.start + edit.start, stretch.start + edit.end, edit.text)
        last = number == len(found) - 1
        following = len(text) if last else found[number + 1].start
        wanted = "" if last else "\n"
        if text[stretch.end : following] != wanted:
            yield Replacement(stretch.end, following, wanted)


def stretches(snapshot: Snapshot) -> list[Stretch]:
    """The text without the empty lines between statements at the top level."""
    text = snapshot.text
    cuts = [
        (part.start + start, part.start + end)
        for part in snapshot.parts
        if not _JOINED.match(text, part.end)
        for start, end in gaps(part.body)
    ]
    begin = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if begin >= end:
        return []
    starts = [begin, *(after for _, after in cuts if begin < after < end)]
    ends = [*(before for before, after in cuts if begin < after < end), min(end + 1, len(text))]
    return [Stretch(*span) for span in zip(starts, ends, strict=True)]


@once
def gaps(body: Body) -> tuple[tuple[int, int], ...]:
    """The empty lines behind the last word of a part: from behind the line before them to the line after them."""
    last = max((token.end for token in body.tokens if token.kind not in ("_NL", "COMMENT")), default=0)
    tail = body.text[last:]
    if any(token.kind == "_NL" and token.start >= last and body.text[token.start] == ";" for token in body.tokens):
        return ()
    return tuple((last + found.start() + 1, last + found.end()) for found in _EMPTY_LINES.finditer(tail))


def _pieces(snapshot: Snapshot, stretch: Stretch) -> Iterator[tuple[int, ParsedPiece]]:
    """What is in a stretch, as it was read for its parts."""
    for part in snapshot.parts_between(stretch.start, stretch.end):
        yield part.start - stretch.start, part.body.parsed


class _LaidOut:
    """Replacements in stretches by their text, those used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[Replacement, ...]] = OrderedDict()
        self._size = 0

    def __call__(self, text: str, pieces: Pieces) -> tuple[Replacement, ...]:
        """The replacements in one stretch; `pieces` are what it was read as, looked at where the stretch is new."""
        if text in self._kept:
            self._kept.move_to_end(text)
            return self._kept[text]
        found = self._kept[text] = format_edits(text, pieces=pieces).value or ()
        self._size += len(text)
        while self._size > RECENT and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[0])
        return found

    def __contains__(self, text: str) -> bool:
        return text in self._kept

    def cache_clear(self) -> None:
        self._kept.clear()
        self._size = 0


laid_out = _LaidOut()
