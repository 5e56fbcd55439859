"""Data cases: a spec, the marker, and its canonical form. `--update-cases` rewrites what stands behind the marker."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.syntax.formatting import format_text
from tests.syntax.formatting.same import assert_formats

CASES = Path(__file__).parents[2] / "cases" / "formatting"
MARKER = "\n# ---- expected ----\n"
FILES = sorted(CASES.glob("*.mcpe"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_formats_as_expected(path: Path, update_cases: bool) -> None:
    source, _, expected = path.read_text("utf-8").partition(MARKER)
    actual = assert_formats(source)
    if update_cases:
        path.write_text(source + MARKER + actual, encoding="utf-8")
    else:
        assert actual == expected


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("# only a comment  ", "# only a comment\n"),
        ("a", "a\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n"),
        ("a\r\nb\nc\n", "a\nb\nc\n"),
        ("a\nb\r\nc\r\n", "a\r\nb\r\nc\r\n"),
        ("a  # ä😀\n\tb # 😀", "a  # ä😀\nb  # 😀\n"),
        ('a """x\r\n  y\r\n"""\r\n', 'a """x\r\n  y\r\n"""\r\n'),
        ('a """x\r\r\ny"""\n', 'a """x\r\r\ny"""\n'),
    ],
)
def test_ends_of_lines_and_of_files(text: str, formatted: str) -> None:
    assert format_text(text).value == formatted


@pytest.mark.parametrize("text", ["a {", 'a "', "a = = b", "let x = 'y'", "a b\u00a0c", "timeout 20sec"])
def test_what_has_errors_has_no_canonical_form(text: str) -> None:
    checked = format_text(text, "specs/a.mcpe")
    assert checked.value is None and not checked.ok
    assert {d.at.path for d in checked.diagnostics if d.at} == {"specs/a.mcpe"}
