"""No file of the project says that something is left to do, or switches a test off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("mcpeval_dsl", "tests", "specs", "benchmarks", "tools", "docs", "grammar", "schemas", ".ci")
SUFFIXES = {".py", ".md", ".mcpe", ".lark", ".toml", ".json", ".yaml", ".sh", ""}
# In pieces, as this file is searched too.
WORDS = ("TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImplemented" + "Error")
SWITCHED_OFF = (r"pytest\.(mark\.)?sk" + r"ip", r"\bsk" + r"ipif\b", r"\bxf" + r"ail\b", "importor" + "skip")
FORBIDDEN = re.compile("|".join([*(rf"\b{word}\b" for word in WORDS), *SWITCHED_OFF]))


def texts() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    found += [ROOT / name for name in ("Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml")]
    return sorted(path for path in found if path.suffix in SUFFIXES and "__pycache__" not in path.parts)


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_nothing_is_left_to_do(folder: str) -> None:
    wrong = []
    for path in texts():
        parts = path.relative_to(ROOT).parts
        if (parts[0] if len(parts) > 1 else ".") == folder:
            lines = path.read_text("utf-8", errors="replace").splitlines()
            wrong += [f"{path}:{number}: {line}" for number, line in enumerate(lines, 1) if FORBIDDEN.search(line)]
    assert not wrong


def test_no_place_of_one_machine_is_named() -> None:
    """Homes of people, package registries and mirrors: a clone works anywhere, and lock files name no host."""
    places = re.compile(
        r"/home/\w|/Users/\w|(?<![/~\w])/ro" + r"ot/|python" + r"hosted|registry\.np" + r"mjs|pypi\.o" + "rg"
    )
    assert not [
        f"{path}: {found[0]}" for path in texts() if (found := places.search(path.read_text("utf-8", "replace")))
    ]
