"""A secret in two pieces: its beginning at the end of one text, the rest at the beginning of another.

Place in the pipeline: beside redaction; for what leaves through the arguments of one call. Linear in the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

SHORTEST_PIECE = 4
LONGEST = 512
MOST_TEXTS = 64


def split_names(names: Mapping[str, str], texts: Iterable[str]) -> tuple[str, ...]:
    """Names of the secrets (`names` by form) that two different texts hold between them."""
    listed = [text for _, text in zip(range(MOST_TEXTS), (t for t in texts if len(t) >= SHORTEST_PIECE), strict=False)]
    if len(listed) < 2:
        return ()
    found = [name for form, name in names.items() if _split(form[:LONGEST], listed)]
    return tuple(dict.fromkeys(found))


def _split(form: str, texts: list[str]) -> bool:
    if len(form) < 2 * SHORTEST_PIECE:
        return False
    begun: dict[int, set[int]] = {}
    for number, text in enumerate(texts):
        for length in _beginnings(form, text):
            begun.setdefault(length, set()).add(number)
    if not begun:
        return False
    for number, text in enumerate(texts):
        for length in _endings(form, text):
            if begun.get(len(form) - length, set()) - {number}:
                return True
    return False


def _beginnings(form: str, text: str) -> Iterator[int]:
    """Lengths of the beginnings of the form that the text ends with."""
    place = text.find(form[:SHORTEST_PIECE], max(0, len(text) - len(form) + SHORTEST_PIECE))
    while place >= 0:
        tail = text[place:]
        if form.startswith(tail):
            yield len(tail)
        place = text.find(form[:SHORTEST_PIECE], place + 1)


def _endings(form: str, text: str) -> Iterator[int]:
    """Lengths of the ends of the form that the text begins with."""
    limit = len(form) - SHORTEST_PIECE
    last = form[-SHORTEST_PIECE:]
    place = text.find(last, 0, limit)
    while place >= 0:
        head = text[: place + SHORTEST_PIECE]
        if form.endswith(head):
            yield len(head)
        place = text.find(last, place + 1, limit)
