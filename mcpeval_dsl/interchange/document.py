"""Interchange, between reading and importers: one foreign file, read as what its text is, whatever its name says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from mcpeval_dsl.interchange.trees.node import Node, Unreadable

Kind: TypeAlias = Literal["xml", "json", "yaml", "table"]


@dataclass(frozen=True, slots=True)
class Document:
    """`path` None: there is no file. `roots` are documents of YAML, the value of JSON, nothing for XML and tables."""

    path: Path | None
    shown: str
    kind: Kind
    text: str
    roots: tuple[Node, ...] = ()

    @property
    def root(self) -> Node:
        return self.roots[0] if self.roots else Node("null", 1)

    @property
    def folder(self) -> Path | None:
        return self.path.parent if self.path is not None else None

    def keys(self) -> set[str]:
        return set(self.root.pairs)


def parse(path: Path | None, shown: str, text: str) -> Document:
    """The document. Raises Unreadable."""
    from mcpeval_dsl.interchange.trees import json_tree, yaml_tree

    suffix = Path(shown).suffix.lower()
    start = re.sub(r"\A(?:\s|<!--.*?-->)+", "", text, flags=re.DOTALL)[:1]
    if not text.strip():
        raise Unreadable("it is empty")
    if suffix in (".csv", ".tsv", ".md", ".markdown"):
        return Document(path, shown, "table", text)
    if start == "<" or (suffix == ".xml" and re.search(r"<[A-Za-z]", text)):
        return Document(path, shown, "xml", text)
    if suffix in (".jsonl", ".ndjson"):
        return Document(path, shown, "json", text, (_lines(text),))
    if start in "{[" or suffix in (".json", ".json5", ".jsonc"):
        try:
            return Document(path, shown, "json", text, (json_tree.read(text),))
        except Unreadable:
            if suffix in (".yaml", ".yml"):
                return Document(path, shown, "yaml", text, yaml_tree.read(text))
            raise
    if suffix == ".xml":
        raise Unreadable("it is no XML: it begins with no element")
    roots = yaml_tree.read(text)
    if not roots:
        raise Unreadable("it is empty")
    return Document(path, shown, "yaml", text, roots)


def _lines(text: str) -> Node:
    """JSON Lines as one list."""
    from mcpeval_dsl.interchange.trees import json_tree

    found = Node("list", 1)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            node = json_tree.read(line)
        except Unreadable as problem:
            raise Unreadable(problem.reason, number) from None
        for each in node.walk():
            each.line = number
            each.key_lines = dict.fromkeys(each.key_lines, number)
        found.items.append(node)
    return found
