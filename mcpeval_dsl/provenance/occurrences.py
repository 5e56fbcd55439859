"""Provenance: all wanted texts in a text in one pass (Aho–Corasick), each with how much of its surroundings it is.

A value that stands whole in a text was told; one that is a part of a longer value was not, though something can be
derived from it; one inside a word was not told at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

_BEFORE = frozenset("-_./@#%+~?&\\")
_AFTER = frozenset("-_./@#%+~?&=\\")
_EDGES = frozenset("\"'`\n\r\t|,[]{}")
_ZEROS = re.compile(r"\.0+(?![0-9])")
_HASH = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{7,}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([ntr/]))")
_HALF = re.compile("[\ud800-\udfff]")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "/": "/"}
# Matches of one piece are held at once; between pieces what was found already is not looked at again.
_PIECE = 1 << 20
# Longer values are looked for by their beginning, then compared: making the automaton of a long one is slow.
_HEAD = 200
# What stands in one text more often than this is looked at no more: `1`, or a letter in a megabyte of it.
_MOST_LOOKS = 5000


class Place(IntEnum):
    """How a text stands in another, the better the higher."""

    INSIDE = 0
    PART = 1
    WHOLE = 2
    LEAF = 3


def readable(text: str) -> str:
    """A text without the escapes of JSON, which no reader sees: `\\u00e9` and `é` are one."""
    if "\\" not in text:
        return text
    said = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPED[found[2]], text)
    if _HALF.search(said) is None:
        return said
    # Two halves are one character; a half by itself is none.
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Needles:
    """Texts to look for. Making it and each search are linear in what they are given."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if text))
        self._longest = min(_HEAD, max(map(len, self.texts), default=0))

    @cached_property
    def _automaton(self) -> AhoCorasick:
        from ahocorasick_rs import AhoCorasick

        return AhoCorasick([text[:_HEAD] for text in self.texts])

    def places(self, text: str) -> Mapping[str, Place]:
        """The best place of each text that is found at all."""
        best: dict[int, Place] = {}
        left = [_MOST_LOOKS] * len(self.texts)
        if self.texts:
            for start in range(0, len(text), _PIECE):
                self._search(text, start, best, left)
        return {self.texts[number]: place for number, place in best.items()}

    def _search(self, text: str, begin: int, best: dict[int, Place], left: list[int]) -> None:
        piece = text[begin : begin + _PIECE + self._longest]
        for number, start, end in self._automaton.find_matches_as_indexes(piece, overlapping=True):
            if left[number] and start < _PIECE:
                left[number] -= 1
                if end - start == _HEAD:
                    end = start + len(self.texts[number])
                    if not text.startswith(self.texts[number], begin + start):
                        continue
                place = _place(text, begin + start, begin + end)
                if place > best.get(number, -1):
                    best[number] = place
                    if place is Place.LEAF:
                        left[number] = 0


def _place(text: str, start: int, end: int) -> Place:
    before = text[start - 1] if start else "\n"
    after = text[end] if end < len(text) else "\n"
    first, last = text[start], text[end - 1]
    if _is_word(before):
        return Place.INSIDE if _is_word(first) else Place.PART
    if _is_word(after):
        return Place.PART if not _is_word(last) or _HASH.fullmatch(text, start, end) else Place.INSIDE
    if before in _BEFORE and start > 1 and _is_word(text[start - 2]):
        return Place.PART
    if after in _AFTER and end + 1 < len(text) and _is_word(text[end + 1]):
        whole_number = after == "." and last.isdigit() and _ZEROS.match(text, end) is not None
        if not whole_number:
            return Place.PART
    return Place.LEAF if before in _EDGES and after in _EDGES else Place.WHOLE


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
