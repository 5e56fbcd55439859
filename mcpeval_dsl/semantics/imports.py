"""Semantics: follows `import` from the spec to all files whose names it uses."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.semantics.reader import Reader, beside, inside
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax import decode, parse
from mcpeval_dsl.syntax.tree import Directive, String, SyntaxTree

LONGEST_CHAIN = 100


@dataclass(slots=True)
class Loaded:
    """Trees in the order in which names are met: imported files before those that import them, the spec last."""

    path: str
    trees: list[SyntaxTree] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def main(self) -> SyntaxTree | None:
        return self.trees[-1] if self.trees and self.trees[-1].file.path == self.path else None


def load(path: str, reader: Reader) -> Loaded:
    """Read the spec and what it imports. A file that cannot be read is reported where it is named."""
    loaded = Loaded(path)
    _visit(path, None, [], {}, reader, loaded)
    return loaded


def _visit(
    path: str,
    named_at: Span | None,
    trail: list[tuple[str, Span | None]],
    done: dict[str, bool],
    reader: Reader,
    loaded: Loaded,
) -> None:
    if path in done:
        if not done[path] and named_at is not None:
            loaded.diagnostics.append(_cycle(path, named_at, trail))
        return
    if len(trail) > LONGEST_CHAIN:
        done[path] = True
        loaded.diagnostics.append(_too_long(named_at))
        return
    tree = _read(path, named_at, reader, loaded)
    if tree is None:
        done[path] = True
        return
    done[path] = False
    for statement in tree.statements:
        if isinstance(statement, Directive) and statement.name.text == "import" and statement.groups:
            item = statement.groups[0].items[0]
            if isinstance(item, String):
                target = beside(path, item.value)
                if not inside(loaded.path, target):
                    loaded.diagnostics.append(_outside(item))
                    continue
                _visit(target, item.span, [*trail, (path, item.span)], done, reader, loaded)
    done[path] = True
    loaded.trees.append(tree)


def _read(path: str, named_at: Span | None, reader: Reader, loaded: Loaded) -> SyntaxTree | None:
    try:
        data = reader.read(path)
    except OSError as fault:
        loaded.diagnostics.append(_unreadable(path, named_at, reader, fault))
        return None
    decoded = decode(path, data)
    loaded.diagnostics.extend(decoded.diagnostics)
    if decoded.value is None:
        return None
    parsed = parse(decoded.value)
    loaded.diagnostics.extend(parsed.diagnostics)
    return parsed.value


def _unreadable(path: str, named_at: Span | None, reader: Reader, fault: OSError) -> Diagnostic:
    at = None if named_at is None else named_at.location()
    if isinstance(fault, IsADirectoryError):
        return Diagnostic("MCPE270", f"`{path}` is a directory, not a spec", at, "", "name a `.mcpe` file")
    if reader.exists(path):
        reason = fault.strerror or type(fault).__name__
        return Diagnostic("MCPE270", f"`{path}` cannot be read: {reason}", at, "", "check its rights")
    body = "Paths of imports are relative to the file that imports." if named_at is not None else ""
    return Diagnostic("MCPE270", f"there is no file `{path}`", at, body, "correct the path")


def _outside(item: String) -> Diagnostic:
    return Diagnostic(
        "MCPE274",
        f"`{item.value}` lies outside the project",
        item.span.location(),
        "Compiling reads files of the project only, since a spec may come from anywhere.",
        "copy the file into the project, and name it by a relative path",
    )


def _too_long(named_at: Span | None) -> Diagnostic:
    return Diagnostic(
        "MCPE270",
        f"this file is imported through more than {LONGEST_CHAIN} others",
        None if named_at is None else named_at.location(),
        "Each of them imports the next one.",
        "import the file from the spec itself",
    )


def _cycle(path: str, named_at: Span, trail: list[tuple[str, Span | None]]) -> Diagnostic:
    start = next(index for index, (name, _) in enumerate(trail) if name == path)
    steps = trail[start:]
    shown = " → ".join([*(name for name, _ in steps), path])
    labels = tuple(Label(span.location(), f"`{name}` imports the next one") for name, span in steps if span is not None)
    return Diagnostic(
        "MCPE271",
        f"these files import each other: {shown}",
        named_at.location(),
        "Imports form no circle.",
        "move what both need into a third file",
        labels=labels,
    )


def files(loaded: Loaded) -> tuple[SourceFile, ...]:
    return tuple(tree.file for tree in loaded.trees)
