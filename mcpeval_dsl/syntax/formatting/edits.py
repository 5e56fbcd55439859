"""Formatting, for editors: only the blanks to change, so that a cursor and what is folded stay in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.formatting.document import written
from mcpeval_dsl.syntax.formatting.tokens import Pieces, Word, read
from mcpeval_dsl.syntax.reading import parse


class Replacement(NamedTuple):
    """The text from offset `start` to `end` (code points) becomes `text`."""

    start: int
    end: int
    text: str


def format_edits(
    text: str, path: str = "spec.mcpe", within: tuple[int, int] | None = None, pieces: Pieces | None = None
) -> Checked[tuple[Replacement, ...]]:
    """Replacements that make `text` canonical, in order and without overlap; no value where it has syntax errors.

    `within` is a range of offsets: only replacements that touch it. Each replacement by itself keeps the meaning.
    `pieces` are what the text was read as already, if it was.
    """
    words = read(text, pieces)
    if words is None:
        return Checked(None, parse(SourceFile(path, text)).diagnostics)
    new = written(words, text)
    if new == text:
        return Checked(())
    again = read(new)
    assert again is not None and len(again) == len(words), "formatting keeps every word"
    found = (edit for edit in _changes(text, words, new, again) if within is None or _touches(edit, within))
    return Checked(tuple(found))


def _touches(edit: Replacement, within: tuple[int, int]) -> bool:
    return edit.start <= within[1] and within[0] <= edit.end


def _changes(old: str, old_words: list[Word], new: str, new_words: list[Word]) -> Iterator[Replacement]:
    """Where the gaps before two equal words differ, and where two words do, as texts do that are indented anew.

    A comment that moves past a word is in one replacement with what lies between, or half of them would lose it.
    """
    old_at = new_at = moving = 0
    for before, after in zip(old_words, new_words, strict=True):
        moving += _comments(before) - _comments(after)
        if moving:
            continue
        yield from _change(old_at, old[old_at : before.start], new[new_at : after.start])
        old_at, new_at = before.start + len(before.text), after.start + len(after.text)
        yield from _change(before.start, before.text, after.text)


def _comments(word: Word) -> int:
    return bool(word.gap.trailing) + len(word.gap.own)


def _change(at: int, old: str, new: str) -> Iterator[Replacement]:
    """What differs between two texts, without what they begin and end with alike."""
    if old == new:
        return
    begin, most = 0, min(len(old), len(new))
    while begin < most and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < most - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    yield Replacement(at + begin, at + len(old) - end, new[begin : len(new) - end])
