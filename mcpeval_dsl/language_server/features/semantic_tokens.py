"""Language server, semantic tokens: the class of every word, part by part; a keystroke encodes one part anew.

Classes are those of the scanner where it has one, and for names what they name. `LEGEND` and `MODIFIERS` give the
numbers of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mcpeval_dsl.language_server.index.model import Occurrence
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.parts import Body, Part, once
from mcpeval_dsl.language_server.positions import Encoding, TextLines
from mcpeval_dsl.language_server.snapshot import Snapshot

LEGEND = (
    "keyword",
    "comment",
    "string",
    "number",
    "regexp",
    "operator",
    "namespace",
    "class",
    "variable",
    "property",
    "method",
    "parameter",
    "function",
    "enumMember",
    "decorator",
)
MODIFIERS = ("declaration", "defaultLibrary")
_NUMBER = {name: number for number, name in enumerate(LEGEND)}

OF_TOKENS = {
    "COMMENT": "comment",
    "STRING": "string",
    "RAW": "string",
    "TEXT": "string",
    "NUMBER": "number",
    "METRIC": "number",
    "REGEX": "regexp",
    "JSONPATH": "property",
    "GLOB": "method",
    "CMP": "operator",
    "EQUAL": "operator",
}
"""Class of each terminal that has one by itself."""

OF_ROLES = {
    "directive": "keyword",
    "grader": "keyword",
    "word": "enumMember",
    "axis": "enumMember",
    "behaviour": "enumMember",
    "effect": "enumMember",
    "constant": "enumMember",
    "field": "property",
    "key": "property",
    "header": "property",
    "metric": "property",
    "tool": "method",
    "argument": "parameter",
    "parameter": "parameter",
    "function": "function",
    "combinator": "function",
    "tag": "decorator",
}
OF_SPACES = {"server": "namespace", "catalogue": "namespace"}
_VALUES = frozenset({"value", "local", "variable", "port", "field"})


class Encoded(NamedTuple):
    """Five numbers a token, as the protocol has them, the first token's relative to the start of the part.

    `line` and `character` are those of the last token, `lines` is how many line ends the part has.
    """

    data: list[int]
    line: int
    character: int
    lines: int


def semantic_tokens(snapshot: Snapshot) -> list[int]:
    """All tokens of a file."""
    return _joined(snapshot, list(snapshot.parts))


def semantic_tokens_between(snapshot: Snapshot, start: int, end: int) -> list[int]:
    """Those of the parts that have something between two offsets."""
    return _joined(snapshot, list(snapshot.parts_between(start, end)))


class Edit(NamedTuple):
    """`delete` numbers from `start` on become `data`."""

    start: int
    delete: int
    data: list[int]


def delta(before: list[int], after: list[int]) -> list[Edit]:
    """What changed between two answers, as at most one edit."""
    if before == after:
        return []
    most = min(len(before), len(after))
    first = _shared(before, after, most)
    last = _shared(before[::-1], after[::-1], most - first)
    return [Edit(first, len(before) - first - last, after[first : len(after) - last])]


def _shared(one: list[int], other: list[int], most: int) -> int:
    """How many numbers two lists begin with alike, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _joined(snapshot: Snapshot, parts: list[Part]) -> list[int]:
    found: list[int] = []
    base = snapshot.position(parts[0].start)[0] if parts else 0
    line = character = 0
    for part in parts:
        encoded = encode(part.body, snapshot.encoding)
        if encoded.data:
            begin = len(found)
            found += encoded.data
            first_line, first_character = base + encoded.data[0], encoded.data[1]
            found[begin] = first_line - line
            found[begin + 1] = first_character - (character if first_line == line else 0)
            line, character = base + encoded.line, encoded.character
        base += encoded.lines
    return found


@once
def encode(body: Body, encoding: Encoding) -> Encoded:
    """The tokens of one part."""
    lines = TextLines(body.text)
    data: list[int] = []
    line = character = 0
    for here, column, length, kind, modifiers in _placed(lines, body, encoding):
        data += (here - line, column - character if here == line else column, length, _NUMBER[kind], modifiers)
        line, character = here, column
    return Encoded(data, line, character, len(lines.starts) - 1)


def _placed(lines: TextLines, body: Body, encoding: Encoding) -> Iterator[tuple[int, int, int, str, int]]:
    """(line, character, length, class, modifiers) in order, each on one line, counted in units of the encoding."""
    starts, ends, narrow = lines.starts, lines.ends, lines.narrow(encoding)
    line, last = 0, len(starts) - 1
    for start, end, kind, modifiers in classes(body):
        while line < last and starts[line + 1] <= start:
            line += 1
        if narrow and start < end <= ends[line]:
            yield line, start - starts[line], end - start, kind, modifiers
            continue
        for begin, stop in _on_lines(lines, start, end):
            here, column = lines.position(begin, encoding)
            length = lines.position(stop, encoding)[1] - column
            if length > 0:
                yield here, column, length, kind, modifiers


def _on_lines(lines: TextLines, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span cut where lines end, since a token of the protocol stands on one."""
    first = lines.position(start, "utf-32")[0]
    while start < end:
        stop = min(end, lines.ends[first])
        if stop > start:
            yield start, stop
        first += 1
        if first >= len(lines.starts):
            return
        start = max(start, lines.starts[first])


def classes(body: Body) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, class, modifiers) in order: names as what they name, and what the scanner says between them."""
    named = [(o, own) for o in index(body).occurrences if (own := class_of(o)) is not None]
    at = 0
    for token in body.tokens:
        kind = OF_TOKENS.get(token.kind)
        start = token.start
        while at < len(named) and named[at][0].start < token.end:
            occurrence, own = named[at]
            at += 1
            if kind is not None and occurrence.start > start:
                yield start, occurrence.start, kind, 0
            yield occurrence.start, occurrence.end, own, _modifiers(occurrence)
            start = max(start, occurrence.end)
        if kind is not None and start < token.end:
            yield start, token.end, kind, 0


def class_of(occurrence: Occurrence) -> str | None:
    """The class of a name; None where the scanner's holds."""
    if occurrence.role != "symbol":
        return OF_ROLES.get(occurrence.role)
    spaces = {key[0] for key in occurrence.keys}
    for space, kind in OF_SPACES.items():
        if space in spaces and "arm" not in spaces:
            return kind
    return "variable" if spaces & _VALUES or not spaces else "class"


def _modifiers(occurrence: Occurrence) -> int:
    builtin = occurrence.role == "function" or ("variable", occurrence.name) in occurrence.keys
    return (1 if occurrence.defines else 0) | (2 if builtin else 0)
