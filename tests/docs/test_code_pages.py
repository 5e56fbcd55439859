"""The pages of the codes on disk are those that the codes and their examples give."""

from __future__ import annotations

import runpy
from pathlib import Path

from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.pages import Seen, pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def test_pages_are_up_to_date() -> None:
    """Run `python docs/reference/generate.py` when this fails."""
    generate = runpy.run_path(str(FOLDER / "generate.py"))
    made = pages(generate["seen"]())
    assert {page.name for page in (FOLDER / "codes").glob("*.md")} == set(made)
    assert [name for name, text in made.items() if (FOLDER / "codes" / name).read_text("utf-8") != text] == []


def test_a_page_says_how_a_finding_is_mended_and_ignored() -> None:
    made = pages({"MCPE362": Seen("warning", True), "MCPE113": Seen("error", True), "MCPE201": Seen("error", False)})
    assert len(made) == len(registry.all_codes()) + 1
    assert "A warning. `mcpe lint --fix` mends it." in made["MCPE362.md"]
    assert "# mcpe: ignore[MCPE362] because" in made["MCPE362.md"]
    assert "ignore" not in made["MCPE113.md"].split("## Good")[1] and "An error." in made["MCPE113.md"]
    assert "--unsafe-fixes" in made["MCPE201.md"]
    assert "| [MCPE362](MCPE362.md) |" in made["README.md"]
