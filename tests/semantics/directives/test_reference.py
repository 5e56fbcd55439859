"""The manual on disk is the one the table gives."""

from __future__ import annotations

from pathlib import Path

from mcpeval_dsl.semantics.directives.reference import pages

FOLDER = Path(__file__).parents[3] / "docs" / "reference"


def test_pages_are_up_to_date() -> None:
    """Run `python docs/reference/generate.py` when this fails."""
    made = pages()
    assert {page.name for page in FOLDER.glob("*.md")} == set(made)
    stale = [name for name, text in made.items() if (FOLDER / name).read_text("utf-8") != text]
    assert stale == []


def test_links_lead_somewhere() -> None:
    made = pages()
    for name, text in made.items():
        for part in text.split("](")[1:]:
            page, _, anchor = part.split(")")[0].partition("#")
            if "/" in page:
                assert (FOLDER / page).exists(), (name, page)
                continue
            target = made[page or name]
            assert not anchor or f"\n## {anchor}\n" in target, (name, page, anchor)
