"""Data cases: a spec, the marker, and what is read from it. `--update-cases` rewrites what stands behind the marker."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl import syntax
from mcpeval_dsl.source import SourceFile
from tests.syntax.dump import diagnostic_lines, tree_lines

CASES = Path(__file__).parents[1] / "cases"
MARKER = "\n# ---- expected ----\n"
FILES = sorted((CASES / "syntax").glob("*.mcpe"))
EXAMPLES = sorted((CASES / "examples").rglob("*.mcpe"))


def read(text: str, name: str) -> str:
    checked = syntax.parse(SourceFile(name, text))
    assert checked.value is not None
    lines = list(diagnostic_lines(checked.diagnostics))
    if not checked.value.complete:
        lines.append("incomplete")
    for number, statement in enumerate(checked.value.statements):
        lines += tree_lines(statement, 0, str(number))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reads_as_expected(path: Path, update_cases: bool) -> None:
    source, _, expected = path.read_text("utf-8").partition(MARKER)
    actual = read(source, path.name)
    if update_cases:
        path.write_text(source + MARKER + actual, encoding="utf-8")
    else:
        assert actual == expected


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read_without_a_diagnostic(path: Path) -> None:
    checked = syntax.parse(SourceFile(path.name, path.read_text("utf-8")))
    assert checked.diagnostics == ()
    assert checked.value is not None and checked.value.complete and checked.value.statements


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_applying_every_edit_mends_what_has_one(path: Path) -> None:
    """Where each error of a case has an edit, the edited text reads without an error of syntax."""
    source = path.read_text("utf-8").partition(MARKER)[0]
    file = SourceFile(path.name, source)
    errors = [d for d in syntax.parse(file).diagnostics if d.severity == "error"]
    edits = [d.edit for d in errors if d.edit]
    if len(edits) < len(errors):
        return
    starts = file.lines.starts
    text = source
    for edit in sorted(edits, key=lambda e: (e.at.line, e.at.column), reverse=True):
        first = starts[edit.at.line - 1] + edit.at.column - 1
        last = starts[edit.at.end_line - 1] + edit.at.end_column - 1
        text = text[:first] + edit.text + text[last:]
    left = [d for d in syntax.parse(SourceFile(path.name, text)).diagnostics if d.severity == "error"]
    assert left == []
