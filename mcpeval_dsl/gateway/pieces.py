"""A secret that leaves in pieces: over several texts of one call, over several calls, and with the answer.

Place in the pipeline: beside redaction; for what an agent sends. Texts are looked through once each, for all secrets at
once, and what was found is kept as intervals: neither many calls nor long texts cost more than their length.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

GRAM = 4
"""Pieces shorter than this are told only where the texts follow one another."""

CLEAR = 8
"""A piece of so many characters counts wherever it stands; a shorter one only as whole words."""

LONGEST = 512
MOST_FORMS = 64
MOST_PIECES = 200
MOST_STREAMS = 64
MOST_LOOKS = 20_000
CHUNK = 1 << 16
MOST_TEXT = 1 << 22
ENOUGH_BITS = 26.0
"""Below this all pieces of a secret may have been said by chance: `password` here and `1234` there."""

A_KEY = "\0key"
WORD_BITS, NUMBER_BITS = 12.0, 10.0
_RUNS = re.compile(r"[a-z]+|[A-Z]+|\d+|[\s\S]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,4096}={0,2}")
_HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}){4,2048}\b")


@dataclass(slots=True)
class _Form:
    """One spelling of a secret, and what was sent of it: (start, end) to the source that sent it first."""

    name: str
    text: str
    pieces: dict[tuple[int, int], str] = field(default_factory=dict)


class PieceWatch:
    """What one agent has sent of each secret (`values` by name) so far."""

    def __init__(self, values: Mapping[str, str]) -> None:
        spelt = ((name, text) for name, value in values.items() for text in _spellings(value))
        found = {text[:LONGEST]: name for name, text in spelt if len(text) >= 2 * GRAM}
        self._forms = [
            _Form(name, text) for text, name in list(found.items())[:MOST_FORMS] if bits(text) >= ENOUGH_BITS
        ]
        self.told: dict[str, str] = {}
        """Pieces of the secrets that were completed, in the spelling they were sent in, with the secret's name."""
        self._streams: dict[str, str] = {}
        self._window = max((len(form.text) for form in self._forms), default=0)

    def sent(self, value: Any, source: str = "", place: str = "") -> tuple[str, ...]:
        """Names of the secrets that are complete with this JSON value, said with the sources of their pieces.

        `source` names what is sent (a call's id), `place` where to (its tool). What completes a secret is not kept: it is
        taken to be stopped.
        """
        if not self._forms:
            return ()
        texts = list(_leaves(value))
        new: list[tuple[_Form, tuple[int, int]]] = [
            found for _, text in texts for view in _views(text) for found in self._pieces_of(view)
        ]
        done: dict[str, str] = {}
        for form in {id(form): form for form, _ in new}.values():
            seen = dict(form.pieces) | {span: source for one, span in new if one is form and span not in form.pieces}
            used = _cover(form.text, seen)
            if used is not None and source in used:
                done.setdefault(form.name, _said(form.name, used))
                self.told |= {form.text[start:end]: form.name for start, end in seen}
        for name in self._joined(texts, place):
            done.setdefault(name, _said(name, ()))
        if not done:
            for form, span in new:
                if len(form.pieces) < MOST_PIECES:
                    form.pieces.setdefault(span, source)
        return tuple(done.values())

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """Number of the form and offset, for each run of four characters."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, form in enumerate(self._forms):
            for start in range(len(form.text) - GRAM + 1):
                places = found.setdefault(form.text[start : start + GRAM], [])
                if len(places) < 16:
                    places.append((number, start))
        return found

    @cached_property
    def _automaton(self) -> AhoCorasick:
        from ahocorasick_rs import AhoCorasick

        return AhoCorasick(list(self._places))

    def _pieces_of(self, text: str) -> Iterator[tuple[_Form, tuple[int, int]]]:
        """The longest pieces of each form that a text holds."""
        for (number, shift), (start, end) in self._runs(text):
            form = self._forms[number]
            if end - start >= CLEAR or _whole_words(text, start, end):
                yield form, (start + shift, end + shift)

    def _runs(self, text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """((form, shift of the form against the text), (start, end) in the text)."""
        listed, looks = list(self._places.values()), 0
        open_: dict[tuple[int, int], tuple[int, int]] = {}
        for base in range(0, min(len(text), MOST_TEXT), CHUNK):
            begin = max(0, base - GRAM + 1)
            matches = self._automaton.find_matches_as_indexes(text[begin : base + CHUNK], overlapping=True)
            for gram, at, _ in matches:
                for number, offset in listed[gram]:
                    start, diagonal = begin + at, (number, offset - begin - at)
                    run = open_.get(diagonal)
                    if run is not None and start <= run[1] - GRAM + 1:
                        open_[diagonal] = (run[0], start + GRAM)
                        continue
                    if run is not None:
                        yield diagonal, run
                    open_[diagonal] = (start, start + GRAM)
            looks += len(matches)
            if looks > MOST_LOOKS:
                break
        yield from open_.items()

    def _joined(self, texts: Iterable[tuple[str, str]], place: str) -> Iterator[str]:
        """Secrets in texts put one after the other: all of one call, and of the same argument from call to call."""
        within = ""
        for name, text in texts:
            if name == A_KEY:
                continue
            bare, key = text.strip(), f"{place}\0{name}"
            before = self._streams.get(key, "")
            for earlier in {within, before} - {""}:
                seam = earlier + bare[: self._window]
                for form in self._forms:
                    if form.text in seam and form.text not in earlier and form.text not in bare:
                        yield form.name
            within = (within + bare)[-self._window :]
            if key in self._streams or len(self._streams) < MOST_STREAMS:
                self._streams[key] = (before + bare)[-self._window :]


def bits(text: str) -> float:
    """How much a text tells, at most: a run of letters may be a word, a run of digits a year or a port."""
    total = 0.0
    for run in _RUNS.findall(text):
        if run.isdigit():
            total += 3.3 * len(run) if len(run) > 4 else min(3.3 * len(run), NUMBER_BITS)
        elif run.isalpha():
            total += 4.7 * len(run) if len(run) > 12 else min(4.7 * len(run), WORD_BITS)
        else:
            total += 3.0
    return total


def _cover(text: str, pieces: Mapping[tuple[int, int], str]) -> tuple[str, ...] | None:
    """Sources whose pieces make the whole text, in order; None where something is missing or it may be chance."""
    used: dict[str, None] = {}
    at, told = 0, 0.0
    best: tuple[int, str] = (0, "")
    for (start, end), source in sorted(pieces.items()):
        if start > at:
            if best[0] < start:
                return None
            told += bits(text[at : best[0]])
            at = best[0]
            used[best[1]] = None
        if end > best[0]:
            best = (end, source)
    if best[0] < len(text):
        return None
    used[best[1]] = None
    return tuple(used) if told + bits(text[at:]) >= ENOUGH_BITS else None


def _said(name: str, sources: tuple[str, ...]) -> str:
    several = [source for source in sources if source]
    return f"{name}, in pieces" + (f" over {', '.join(several)}" if len(several) > 1 else "")


def _whole_words(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    joined = (before.isalnum() and text[start].isalnum()) or (after.isalnum() and text[end - 1].isalnum())
    return not joined


def _spellings(value: str) -> Iterator[str]:
    """A secret as it may be cut up: itself, and whole in base64 or hexadecimal digits."""
    yield value
    yield json.dumps(value)[1:-1]
    yield base64.b64encode(value.encode("utf-8", "replace")).decode().rstrip("=")
    yield value.encode("utf-8", "replace").hex()


def _views(text: str) -> Iterator[str]:
    """A text, and what it holds in the encodings of URLs, base64 and hexadecimal digits."""
    yield text
    if "%" in text[:MOST_TEXT]:
        yield unquote(text[:MOST_TEXT])
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, bytes.fromhex)):
        for count, token in enumerate(pattern.findall(text[:CHUNK])):
            if count >= 64:
                break
            try:
                yield decode(token).decode("utf-8")
            except (ValueError, binascii.Error):
                continue


def _from_base64(token: str) -> bytes:
    bare = token.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare + "=" * (-len(bare) % 4))


def _leaves(value: Any) -> Iterator[tuple[str, str]]:
    """Texts, keys and numbers in the order they stand in, each with the name of the field it is in."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, str):
            yield name, item
        elif isinstance(item, Mapping):
            yield from ((A_KEY, str(key)) for key in item if len(str(key)) >= GRAM)
            waiting.extend((str(key), each) for key, each in reversed(list(item.items())))
        elif isinstance(item, list | tuple):
            waiting.extend((name, each) for each in reversed(item))
        elif isinstance(item, int) and not isinstance(item, bool):
            yield name, str(item) if -(10**64) < item < 10**64 else ""
