"""Specs with mistakes, and the errors of shape they give: `tests/cases/shape`, one theme a file.

After the line `# expected` each line is `# CODE line:column title`. `--update-cases` writes what is found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.semantics import shape
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse

CASES = Path(__file__).parents[2] / "cases"
MARKER = "# expected\n"


def _found(path: Path, text: str) -> list[str]:
    parsed = parse(SourceFile(path.name, text))
    assert parsed.value is not None
    assert parsed.diagnostics == ()
    found = shape.check(parsed.value)
    return [f"{d.code} {d.at.line}:{d.at.column} {d.title}" for d in found if d.at is not None]


@pytest.mark.parametrize("path", sorted((CASES / "shape").glob("*.mcpe")), ids=lambda p: p.stem)
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    source, _, expected = path.read_text("utf-8").partition(MARKER)
    found = _found(path, source)
    if request.config.getoption("--update-cases", default=False):
        path.write_text(source + MARKER + "".join(f"# {line}\n" for line in found), "utf-8")
        return
    assert found == [line.removeprefix("# ") for line in expected.splitlines()]


@pytest.mark.parametrize("path", sorted((CASES / "examples").rglob("*.mcpe")), ids=lambda p: p.stem)
def test_example_has_no_errors(path: Path) -> None:
    assert _found(path, path.read_text("utf-8")) == []
