"""Every code that is used is explained, and the examples are what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.registry import CodeInfo

ROOT = Path(__file__).parents[2]
ENTRIES = registry.all_codes()
COMPILED = [entry for entry in ENTRIES if entry.area in ("syntax", "names", "meaning") and not entry.is_command]


class Example:
    """A reader for one spec: no other specs exist, all other files do, and `missing` ones cannot be read."""

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


def check_text(text: str) -> tuple[Diagnostic, ...]:
    return pipeline.check("spec.mcpe", Example(text), design=True).diagnostics


def errors_of(text: str, check: Callable[[str], tuple[Diagnostic, ...]] = check_text) -> set[str]:
    return {d.code for d in check(text) if d.severity == "error"}


def test_codes_in_the_source_are_explained() -> None:
    used: dict[str, Path] = {}
    for path in (ROOT / "mcpeval_dsl").rglob("*.py"):
        if path.name != "registry.py":
            used |= dict.fromkeys(re.findall(r"\bMCPE[1-6]\d\d\b", path.read_text("utf-8")), path)
    for code in re.findall(r"\bMCPE\d{3}\b", (ROOT / "grammar" / "messages.toml").read_text("utf-8")):
        used[code] = ROOT / "grammar" / "messages.toml"
    assert {code: path.name for code, path in used.items() if registry.info(code) is None} == {}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.code)
def test_an_entry_is_complete(entry: CodeInfo) -> None:
    assert entry.title and entry.explanation and entry.bad.strip() and entry.good.strip()
    assert not re.search(r"unexpected|expected one of|invalid syntax", entry.title, re.IGNORECASE)
    assert registry.AREAS[entry.code[4]] == entry.area


@pytest.mark.parametrize("entry", COMPILED, ids=lambda e: e.code)
def test_the_bad_example_has_the_error(entry: CodeInfo) -> None:
    assert entry.code in {d.code for d in check_text(entry.bad)}


@pytest.mark.parametrize("entry", [e for e in COMPILED if e.area == "syntax"], ids=lambda e: e.code)
def test_a_bad_example_of_syntax_has_no_other_error_of_syntax(entry: CodeInfo) -> None:
    assert {code for code in errors_of(entry.bad) if code < "MCPE2"} <= {entry.code}


@pytest.mark.parametrize("entry", COMPILED, ids=lambda e: e.code)
def test_the_good_example_does_not_have_it(entry: CodeInfo) -> None:
    codes = {d.code for d in check_text(entry.good)}
    assert entry.code not in codes
    assert {code for code in codes if code < "MCPE2"} == set()


@pytest.mark.parametrize("written", ["MCPE115", "mcpe115", "115", " MCPE115 "])
def test_a_code_may_be_written_short(written: str) -> None:
    found = registry.info(written)
    assert found is not None and found.code == "MCPE115"


@pytest.mark.parametrize("written", ["", "MCPE", "9", "MCPE999", "MCPE015", "x115"])
def test_what_is_no_code(written: str) -> None:
    assert registry.info(written) is None


def test_titles_are_those_of_the_entries() -> None:
    assert registry.titles() == {entry.code: entry.title for entry in ENTRIES}
