"""Notes by number: the most frequent codes with their titles, and never a line that tells of one code without it."""

from __future__ import annotations

import io

import pytest

from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.diagnostics.model import Diagnostic

CODES = ("MCPE311", "MCPE364", "MCPE370", "MCPE371", "MCPE372", "MCPE375", "MCPE376", "MCPE378", "MCPE379")


@pytest.mark.parametrize(
    ("codes", "titles", "last"),
    [
        (6, 6, "MCPE375"),
        (7, 7, "MCPE376"),
        (8, 6, "  and 2 of 2 other codes"),
        (9, 6, "  and 3 of 3 other codes"),
    ],
)
def test_codes_of_notes(codes: int, titles: int, last: str) -> None:
    shown = io.StringIO()
    show([Diagnostic(code, "x", None, severity="note") for code in CODES[:codes]], {}, stream=shown, notes=False)
    lines = shown.getvalue().splitlines()
    assert sum("×" in line for line in lines) == titles
    assert last in lines[-1]
