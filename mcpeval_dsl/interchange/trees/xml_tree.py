"""Interchange: XML as people and models write it -> elements with their lines. Never fails: what is broken is mended and said.

A tokenizer of its own: strict parsers refuse a file for one `&`, forgiving ones lose text. Entities of a DOCTYPE are not
expanded and nothing outside is read, so no document can grow or reach anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mcpeval_dsl.interchange.trees.node import MOST_LEVELS, MOST_NODES, Unreadable
from mcpeval_dsl.source import LineIndex

_TOKEN = re.compile(
    r"(?P<skip><!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^\[>]*(?:\[[^\]]*(?:\]|\Z))?\s*>?)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)"
    r"|</(?P<end>[^\W\d][\w.:-]*)\s*>"
    r"|<(?P<start>[^\W\d][\w.:-]*)(?P<attributes>(?:\s+[^\s=<>/\"']+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))?)*)"
    r"\s*(?P<closed>/?)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=<>/\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s<>\"']+)))?")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_BARE = re.compile(r"&(?!#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]*;)")
_XML = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@dataclass(slots=True)
class Element:
    """`text` is all that is said inside, also in elements below, in order."""

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def child(self, *tags: str) -> Element | None:
        return next((each for tag in tags for each in self.children if each.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


@dataclass(frozen=True, slots=True)
class Repair:
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Read:
    """`root` holds the roots of the file; its own tag is empty."""

    root: Element
    repairs: tuple[Repair, ...]


def read(text: str, texts: frozenset[str] = frozenset(), blocks: frozenset[str] = frozenset()) -> Read:
    """Elements of a text. `texts` are tags that hold text only, `blocks` those that hold them: of use where ends are missing.

    Raises Unreadable for what is nested too deeply or has too many elements.
    """
    tokens = list(_TOKEN.finditer(text))
    starts = Counter(found["start"] for found in tokens if found["start"] and not found["closed"])
    ends = Counter(found["end"] for found in tokens if found["end"])
    broken = starts != ends
    known = texts | blocks
    real = {tag for tag in starts if not broken or starts[tag] == ends[tag] or tag in known}
    reader = _Reader(text, real | {found["start"] for found in tokens if found["closed"]}, texts, blocks)
    reader.broken = broken
    for found in tokens:
        reader.take(found)
    return reader.done()


class _Reader:
    def __init__(self, text: str, real: set[str], texts: frozenset[str], blocks: frozenset[str]) -> None:
        self.source, self.real, self.texts, self.blocks = text, real, texts, blocks
        self.lines = LineIndex(text)
        self.root = Element("", 1)
        self.open = [self.root]
        self.said: list[list[str]] = [[]]
        self.repairs: list[Repair] = []
        self.position = 0
        self.count = 0
        self.broken = False

    def take(self, found: re.Match[str]) -> None:
        self._say(self.source[self.position : found.start()], self.position)
        self.position = found.end()
        line = self.lines.position(found.start())[0]
        if found["data"] is not None:
            self.said[-1].append(found["data"])
        elif found["start"] is not None:
            self._start(found, line)
        elif found["end"] is not None:
            self._end(found, line)
        elif "<!ENTITY" in found.group():
            self._repair(line, "the entities that the file declares are not expanded")

    def _repair(self, line: int, what: str) -> None:
        if len(self.repairs) < 1000:
            self.repairs.append(Repair(line, what))

    def _literal(self, found: re.Match[str], line: int) -> None:
        self.said[-1].append(found.group())
        self._repair(line, f"`{found.group()[:40]}` is read as text: it is no element of this file")

    def _start(self, found: re.Match[str], line: int) -> None:
        tag = found["start"]
        inside = self.open[-1].tag
        if tag not in self.real or (self.broken and inside in self.texts and tag not in self.texts | self.blocks):
            self._literal(found, line)
            return
        if self.broken:
            self._close_forgotten(tag, line)
        self.count += 1
        if len(self.open) > MOST_LEVELS or self.count > MOST_NODES:
            raise Unreadable(f"it is nested more than {MOST_LEVELS} levels deep, or has too many elements", line)
        attributes = {a[1]: _unescaped(a[2] or a[3] or a[4] or "") for a in _ATTRIBUTE.finditer(found["attributes"])}
        element = Element(tag, line, attributes)
        self.open[-1].children.append(element)
        if not found["closed"]:
            self.open.append(element)
            self.said.append([])

    def _close_forgotten(self, tag: str, line: int) -> None:
        """A text cannot hold a text, nor a question another question: the end before it was forgotten."""
        while len(self.open) > 1:
            inside = self.open[-1].tag
            stuck = inside in self.texts and tag in self.texts | self.blocks
            if not stuck and not (tag == inside and tag in self.blocks):
                return
            self._repair(line, f"the `</{inside}>` of line {self.open[-1].line} is missing")
            self._close()

    def _end(self, found: re.Match[str], line: int) -> None:
        tag = found["end"]
        tags = [element.tag for element in self.open]
        if tag not in tags:
            if tag not in self.real and self.open[-1].tag in self.texts:
                self._literal(found, line)
            else:
                self._repair(line, f"`</{tag}>` closes nothing")
            return
        while self.open[-1].tag != tag:
            self._repair(line, f"the `</{self.open[-1].tag}>` of line {self.open[-1].line} is missing")
            self._close()
        self._close()

    def _close(self) -> None:
        element, text = self.open.pop(), "".join(self.said.pop())
        element.text = text
        self.said[-1].append(text)

    def _say(self, text: str, at: int) -> None:
        if len(self.open) == 1 and (stray := text.strip()):
            line = self.lines.position(at + text.index(stray))[0]
            words = stray.split("\n", 1)[0][:40]
            self._repair(line, f"“{words}” stands outside of every element and is left out")
        bare = _BARE.search(text)
        if bare is not None and len(self.open) > 1:
            self._repair(self.lines.position(at + bare.start())[0], "an `&` that is no entity is read as it stands")
        if "<" in text and len(self.open) > 1:
            self._repair(
                self.lines.position(at + text.index("<"))[0], "a `<` that begins no element is read as it stands"
            )
        self.said[-1].append(_unescaped(text))

    def done(self) -> Read:
        self._say(self.source[self.position :], self.position)
        last = len(self.lines.starts)
        while len(self.open) > 1:
            self._repair(last, f"the `</{self.open[-1].tag}>` of line {self.open[-1].line} is missing")
            self._close()
        if len(self.root.children) > 1:
            self._repair(self.root.children[1].line, f"the file has {len(self.root.children)} roots; all are read")
        return Read(self.root, tuple(self.repairs))


def _unescaped(text: str) -> str:
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    """XML's five entities, numbers, and the names that HTML has; any other stays as it is written."""
    name = found[1]
    if name.startswith("#"):
        number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
        return chr(number) if 0 < number < 0xD800 or 0xE000 <= number < 0x110000 else "\ufffd"
    if name in _XML:
        return _XML[name]
    from html.entities import html5

    return html5.get(name + ";", found.group())
