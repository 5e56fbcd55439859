"""Diagnostics, for GitHub Actions: one workflow command a diagnostic, shown beside the changed lines.

Escapes follow the toolkit: % CR LF in the message, and : , besides in properties.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """`::error file=…,line=…,col=…,title=…::message` for each."""
    return "".join(_line(diagnostic) + "\n" for diagnostic in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    properties = {}
    if at := diagnostic.at:
        properties = {"file": at.path, "line": at.line, "col": at.column, "endLine": at.end_line}
        if at.end_line == at.line:
            properties["endColumn"] = at.end_column
    properties["title"] = f"{diagnostic.code} {diagnostic.title}"
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    hint = f"hint: {diagnostic.hint}" if diagnostic.hint else ""
    message = "\n".join(part for part in (diagnostic.title, diagnostic.body, hint) if part)
    return f"::{_LEVELS[diagnostic.severity]} {written}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
