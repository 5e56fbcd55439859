"""Cases as data: `=== name`, a spec with marks, `---`, and what is expected. `@@ path` begins a further file.

A line `include base` stands for the spec at the top of the file, before the first case.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.language_server.snapshot import Snapshot
from tests.language_server.features.marked import Memory

FOLDER = Path(__file__).parent / "cases"
MAIN = "specs/main.mcpe"


@dataclass(frozen=True)
class Case:
    """One case. `texts` are the files without marks; the marks stood at `start` and `end` of the first that had them."""

    name: str
    texts: dict[str, str]
    path: str
    start: int
    end: int
    expected: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.expected.splitlines() if line.strip()]

    def snapshot(self) -> Snapshot:
        found = Memory(dict(self.texts)).snapshot(self.path)
        assert found is not None
        return found


def read(name: str) -> list[Case]:
    """The cases of one file, in order."""
    base, *cases = (FOLDER / f"{name}.txt").read_text("utf-8").split("\n=== ")
    return [_case(text, base) for text in cases]


def _case(text: str, base: str) -> Case:
    head, _, expected = text.partition("\n---\n")
    name, _, spec = head.partition("\n")
    texts = texts_of(spec, base)
    marked = next((p for p, t in texts.items() if "⟦" in t), MAIN)
    start = texts[marked].find("⟦")
    end = texts[marked].find("⟧") - 1
    plain = {path: text.replace("⟦", "").replace("⟧", "") for path, text in texts.items()}
    return Case(name.strip(), plain, marked, start, end, expected.rstrip("\n"))


def texts_of(spec: str, base: str = "") -> dict[str, str]:
    """The files of a case. ␍ is a carriage return, ␉ a tab."""
    texts: dict[str, str] = {}
    path = MAIN
    for line in spec.replace("␍", "\r").replace("␉", "\t").split("\n"):
        if line.startswith("@@ "):
            path = line[3:].strip()
            texts.setdefault(path, "")
            continue
        line = base.strip("\n") if line == "include base" else line
        texts[path] = f"{texts[path]}\n{line}" if texts.get(path) else line
    return texts


def applied(text: str, edits: list[tuple[int, int, str]]) -> str:
    """A text after edits that do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
