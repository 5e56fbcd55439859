"""Writes the pages of this folder from the table of directives, and those of `codes` from the codes:
`python docs/reference/generate.py`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.pages import Seen
from mcpeval_dsl.diagnostics.pages import pages as code_pages
from mcpeval_dsl.semantics.directives.reference import pages

COMPILED = ("syntax", "names", "meaning")


class Example:
    """One spec; all other files are there and empty, other specs and `missing` ones are not."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, path: str) -> bytes:
        if path == "spec.mcpe":
            return self.text.encode()
        if path.endswith(".mcpe") or "missing" in path:
            raise FileNotFoundError(2, "No such file or directory", path)
        return b""

    def exists(self, path: str) -> bool:
        return path == "spec.mcpe" or not path.endswith(".mcpe")


def seen() -> dict[str, Seen]:
    """What the bad examples of all codes are reported as."""
    found: dict[str, Seen] = {}
    for entry in registry.all_codes():
        if entry.area in COMPILED and not entry.is_command:
            for diagnostic in pipeline.check("spec.mcpe", Example(entry.bad), design=True).diagnostics:
                if diagnostic.code == entry.code:
                    safe = any(fix.safe for fix in diagnostic.fixes) if diagnostic.fixes else None
                    found.setdefault(entry.code, Seen(diagnostic.severity, safe))
    return found


def write(folder: Path, made: Mapping[str, str]) -> None:
    """Write every page and remove those that are no longer made."""
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")
    for page in folder.glob("*.md"):
        if page.name not in made:
            page.unlink()


if __name__ == "__main__":
    here = Path(__file__).parent
    write(here, pages())
    write(here / "codes", code_pages(seen()))
