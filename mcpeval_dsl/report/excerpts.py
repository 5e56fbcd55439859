"""Report, for reproductions: the definitions of a spec that some names need, as texts for a file in another folder.

Cut from the text as it was written, with all they refer to; paths of files are written anew, relative to the other folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

from mcpeval_dsl.syntax.tree import Directive, Name, NamedBinding, Ref, Statement, String, SyntaxTree

_DEFINING = frozenset({"server", "environment", "table"})
_BINDING = frozenset({"let", "harvest"})
_OF_FILES = frozenset({"stdio", "copy", "unpack", "load", "render", "run", "start", "file"})
_INSIDE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Definition:
    """One statement of a spec or of what it imports. `folder` is where its file lies."""

    kind: str
    name: str
    statement: Statement
    folder: Path

    def names(self) -> set[str]:
        """Whatever it may refer to."""
        found: set[str] = set()
        for node in _inside(self.statement):
            if isinstance(node, Ref) and isinstance(node.root, Name):
                found.add(node.root.text)
            elif isinstance(node, String):
                found.update(word for part in _INSIDE.findall(node.value) for word in _WORD.findall(part))
        return found - {self.name}


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec with its imports. `root` is the project's folder, which the paths of the trees start from."""

    root: Path
    trees: Sequence[SyntaxTree]

    def definitions(self) -> Iterator[Definition]:
        for tree in self.trees:
            folder = (self.root / tree.file.path).parent
            for statement in tree.statements:
                found = _defined(statement)
                if found is not None:
                    yield Definition(*found, statement, folder)

    def setup_of(self, task: str) -> tuple[Definition, ...]:
        """The `setup` block of a task, each of its statements for itself."""
        for tree in self.trees:
            for statement in _with_nested(tree.statements):
                if isinstance(statement, Directive) and statement.name.text == "task" and _first(statement) == task:
                    inner = statement.block.statements if statement.block else ()
                    folder = (self.root / tree.file.path).parent
                    return tuple(
                        Definition("setup", "", step, folder)
                        for line in inner
                        if isinstance(line, Directive) and line.name.text == "setup" and line.block is not None
                        for step in line.block.statements
                    )
        return ()


def excerpt(spec: Spec, wanted: Iterable[str], annotated: Iterable[str] = ()) -> tuple[Definition, ...]:
    """The definitions of these names with all they refer to, in order of the text; annotations of `annotated`, and of
    every server that a harvest among them may ask."""
    known = {definition.name: definition for definition in spec.definitions() if definition.kind != "annotations"}
    chosen: set[str] = set()
    todo = [name for name in wanted if name in known]
    while todo:
        name = todo.pop()
        if name not in chosen:
            chosen.add(name)
            todo += [other for other in known[name].names() if other in known]
    of_harvests = any(known[name].kind == "harvest" for name in chosen)
    told = set(annotated) | (chosen if of_harvests else set())
    return tuple(
        definition
        for definition in spec.definitions()
        if (definition.name in told if definition.kind == "annotations" else definition.name in chosen)
    )


def text_of(definition: Definition, folder: Path) -> str:
    """As it was written, for a file in `folder`."""
    span = definition.statement.span
    text, changes = span.text, []
    for string in _paths(definition.statement):
        place = definition.folder / string.value
        if string.value and "{{" not in string.value and not Path(string.value).is_absolute() and place.exists():
            written = os.path.relpath(place, folder).replace(os.sep, "/")
            changes.append((string.span.start - span.start, string.span.end - span.start, f'"{written}"'))
    for start, end, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _paths(statement: Statement) -> Iterator[String]:
    """Texts that may name a file beside the spec: those of lines that read files or start programs; no program alone."""
    for node in _inside(statement):
        if isinstance(node, Directive) and node.name.text in _OF_FILES:
            words = [item for group in node.groups for item in _inside(group) if isinstance(item, String)]
            program = node.name.text in ("stdio", "run", "start")
            yield from (word for at, word in enumerate(words) if not (program and at == 0 and "/" not in word.value))
        elif isinstance(node, Ref) and isinstance(node.root, Name) and node.root.text == "file":
            yield from (item for item in _inside(node.postfixes) if isinstance(item, String))


def _defined(statement: Statement) -> tuple[str, str] | None:
    if isinstance(statement, NamedBinding) and statement.keyword.text in _BINDING and isinstance(statement.name, Name):
        return statement.keyword.text, statement.name.text
    if isinstance(statement, Directive) and statement.name.text in (*_DEFINING, "annotations"):
        name = _first(statement)
        return None if name is None else (statement.name.text, name)
    return None


def _first(statement: Directive) -> str | None:
    """The name that a statement defines."""
    items = statement.groups[0].items if statement.groups else ()
    first = items[0] if items else None
    return first.root.text if isinstance(first, Ref) and isinstance(first.root, Name) else None


def _with_nested(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Tasks also stand in a `for`."""
    for statement in statements:
        yield statement
        if isinstance(statement, Directive) and statement.name.text == "for" and statement.block is not None:
            yield from statement.block.statements


def _inside(value: object) -> Iterator[object]:
    todo: list[object] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(reversed(node))
        elif is_dataclass(node):
            yield node
            todo.extend(
                reversed([getattr(node, field.name) for field in fields(node) if not field.name.endswith("span")])
            )


__all__ = ["Definition", "Spec", "excerpt", "text_of"]
