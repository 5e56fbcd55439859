"""Files of a project that exist in a test only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


class Memory:
    """A reader over texts by path; `anything` lets every other file exist, with a plausible content."""

    def __init__(self, files: Mapping[str, str], anything: bool = False) -> None:
        self.files = files
        self.anything = anything

    def read(self, path: str) -> bytes:
        if path in self.files:
            return self.files[path].encode()
        if self.anything:
            return PLAUSIBLE.get(Path(path).suffix, "text\n").encode()
        raise FileNotFoundError(path)

    def exists(self, path: str) -> bool:
        return self.anything or any(name == path or name.startswith(f"{path}/") for name in self.files)


PLAUSIBLE = {
    ".csv": "id,question,sql,tolerance\nfirst,How many orders?,select count(*) from orders,0.5\n",
    ".yaml": "- names every finished item\n- claim: invents nothing\n  weight: 2\n",
    ".json": json.dumps({"tools": [{"name": f"get_{n}", "inputSchema": {"type": "object"}} for n in range(60)]}),
    ".md": "Work in {{ workdir }} and say what you did.\n",
}

EXAMPLES = Path(__file__).parents[1] / "cases" / "examples"


def examples() -> dict[str, str]:
    """Every example suite and what they import, by path below `tests/cases/examples`."""
    return {p.relative_to(EXAMPLES).as_posix(): p.read_text("utf-8") for p in sorted(EXAMPLES.rglob("*.mcpe"))}
