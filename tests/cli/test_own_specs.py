"""The project's own specs: no error, no warning, and the notes are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.cli.main import main


def test_the_specs_of_the_project_have_no_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["lint", "--strict"]) == 0
    shown = capsys.readouterr().out
    assert "notes on the design (mcpe lint --notes lists them):" in shown and len(shown.splitlines()) < 12
