"""Diagnostics, for code scanning: SARIF 2.1.0 (OASIS), one run, a rule for each code that occurs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from mcpeval_dsl import __version__
from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.model import Diagnostic, Fix
from mcpeval_dsl.source import Location

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """The log as JSON with a final newline. Columns count code points, as SARIF's `unicodeCodePoints` says."""
    shown = list(diagnostics)
    codes = sorted({diagnostic.code for diagnostic in shown})
    numbers = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {"driver": {"name": "mcpe", "version": __version__, "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, numbers[diagnostic.code]) for diagnostic in shown],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    entry = registry.info(code)
    if entry is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.explanation},
        "help": {"text": f"{entry.explanation}\n\nBad:\n{entry.bad}\n\nGood:\n{entry.good}"},
    }


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    parts = [diagnostic.title, diagnostic.body, f"Hint: {diagnostic.hint}" if diagnostic.hint else ""]
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": "\n".join(part for part in parts if part)},
        "locations": [{"physicalLocation": _physical(diagnostic.at)}] if diagnostic.at else [],
    }
    if diagnostic.labels:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _physical(label.at), "message": {"text": label.text}}
            for number, label in enumerate(diagnostic.labels)
        ]
    if diagnostic.fixes:
        result["fixes"] = [_fix(fix) for fix in diagnostic.fixes if fix.edits]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    files: dict[str, list[Any]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _region(edit.at), "insertedContent": {"text": edit.text}}
        files.setdefault(edit.at.path, []).append(replacement)
    changes = [{"artifactLocation": {"uri": quote(path)}, "replacements": each} for path, each in files.items()]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _physical(at: Location) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(at.path)}, "region": _region(at)}


def _region(at: Location) -> dict[str, Any]:
    return {
        "startLine": at.line,
        "startColumn": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
    }
