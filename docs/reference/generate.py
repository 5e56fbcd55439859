"""Writes the pages of this folder from the table of directives: `python docs/reference/generate.py`."""

from __future__ import annotations

from pathlib import Path

from mcpeval_dsl.semantics.directives.reference import pages


def main() -> None:
    """Write every page and remove those that are no longer made."""
    folder = Path(__file__).parent
    made = pages()
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")
    for page in folder.glob("*.md"):
        if page.name not in made:
            page.unlink()


if __name__ == "__main__":
    main()
