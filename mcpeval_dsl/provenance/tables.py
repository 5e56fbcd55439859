"""Provenance: tables in plain text as records, so that a value in one of their columns has a role.

Two kinds: columns under a heading in capitals, two spaces or a tab apart, as command lines print them; and rows between
bars, as Markdown has them. Anything else in a text stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Row = dict[str, str]
_GAP = re.compile(r"\t+| {2,}")
_HEADING = re.compile(r"[A-Z][A-Z0-9()%_-]*(?: [A-Z0-9()%_-]+)*")
_RULE = re.compile(r"\|?[\s:|-]*-{3,}[\s:|-]*\|?")


def rows(text: str) -> Iterator[Row]:
    """Each row by its headings. Linear; a text without a heading gives nothing."""
    headings: list[str] = []
    previous: list[str] = []
    bars = False
    for line in text.splitlines():
        cells = _cells(line)
        if line.lstrip().startswith("|") and _RULE.fullmatch(line.strip()):
            headings, bars = previous, True
        elif len(cells) > 1 and not line.lstrip().startswith("|") and all(map(_HEADING.fullmatch, cells)):
            headings, bars = cells, False
        elif headings and 1 < len(cells) <= len(headings) and line.lstrip().startswith("|") == bars:
            yield dict(zip(headings, cells, strict=False))
        else:
            headings = []
        previous = cells


def _cells(line: str) -> list[str]:
    stripped = line.strip()
    if stripped.startswith("|"):
        return [cell.strip() for cell in stripped.strip("|").split("|")]
    return _GAP.split(stripped) if stripped else []
