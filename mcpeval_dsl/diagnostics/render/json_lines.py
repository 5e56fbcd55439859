"""Diagnostics, for programs: JSON Lines, the first naming the version of the format, the last counting."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic, Edit
from mcpeval_dsl.diagnostics.ordering import count
from mcpeval_dsl.source import Location

VERSION = 1


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """One object a line: `version`, then each `diagnostic`, then `summary`."""
    shown = list(diagnostics)
    head: dict[str, Any] = {"type": "version", "format": "mcpe.diagnostics", "version": VERSION}
    tail: dict[str, Any] = {"type": "summary", **count(shown)}
    lines = [head, *(as_object(diagnostic) for diagnostic in shown), tail]
    return "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)


def as_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """All fields under their own names; lines and columns count from 1, ends are exclusive."""
    return {
        "type": "diagnostic",
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "title": diagnostic.title,
        "body": diagnostic.body,
        "hint": diagnostic.hint,
        "at": _place(diagnostic.at),
        "labels": [{"at": _place(label.at), "text": label.text} for label in diagnostic.labels],
        "edit": diagnostic.edit and _edit(diagnostic.edit),
        "fixes": [
            {"title": fix.title, "safe": fix.safe, "edits": [_edit(edit) for edit in fix.edits]}
            for fix in diagnostic.fixes
        ],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {"at": _place(edit.at), "text": edit.text}


def _place(at: Location | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {
        "path": at.path,
        "line": at.line,
        "column": at.column,
        "end_line": at.end_line,
        "end_column": at.end_column,
    }
