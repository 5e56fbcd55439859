"""A tree as text, one node a line, and diagnostics as lines: what the data cases expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import Span


def tree_lines(node: Any, depth: int = 0, label: str = "") -> Iterator[str]:
    """Class, plain fields and place of a node; its children below, indented."""
    head = f"{label}: " if label else ""
    if isinstance(node, tuple):
        for number, item in enumerate(node):
            yield from tree_lines(item, depth, f"{label}[{number}]")
        return
    if not is_dataclass(node):
        yield f"{'  ' * depth}{head}{node!r}"
        return
    plain, children = [], []
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name in ("span", "operator_span", "offsets", "file") or value is None or value == ():
            continue
        if is_dataclass(value) or isinstance(value, tuple):
            children.append((item.name, value))
        else:
            plain.append(f"{item.name}={value!r}")
    span: Span = node.span
    at = span.location()
    place = f"@{at.line}:{at.column}-{at.end_line}:{at.end_column}"
    yield f"{'  ' * depth}{head}{type(node).__name__} {' '.join([*plain, place])}"
    for name, value in children:
        yield from tree_lines(value, depth + 1, name)


def diagnostic_lines(diagnostics: tuple[Diagnostic, ...]) -> Iterator[str]:
    for d in diagnostics:
        assert d.at is not None
        yield f"{d.severity} {d.code} @{d.at.line}:{d.at.column}-{d.at.end_line}:{d.at.end_column} {d.title}"
        for label in d.labels:
            yield f"  label @{label.at.line}:{label.at.column} {label.text}"
        yield f"  hint {d.hint}"
        if d.edit:
            e = d.edit.at
            yield f"  edit @{e.line}:{e.column}-{e.end_line}:{e.end_column} {d.edit.text!r}"
