"""The specs in README.md and on the pages of docs/ compile: the `mcpe` blocks of a page, put together, are one spec."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from tests.semantics.memory import Memory

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```mcpe\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("decisions/*.md"),
    ]
)
SCRIPT = "tasks: {}\n"
LABELS = '{"claim": "c", "answer": "a", "verdict": "pass"}\n{"claim": "c", "answer": "b", "verdict": "fail"}\n'


def spec_of(page: Path) -> str:
    return "\n".join(BLOCK.findall(page.read_text("utf-8")))


@pytest.mark.parametrize("page", [p for p in PAGES if spec_of(p)], ids=lambda p: p.stem)
def test_the_spec_of_a_page_compiles_without_a_word(page: Path) -> None:
    text = spec_of(page)
    scripts = dict.fromkeys(re.findall(r'script "([^"]+)"', text), SCRIPT)
    labels = dict.fromkeys(re.findall(r'calibration file "([^"]+)"', text), LABELS)
    checked = pipeline.check("page.mcpe", Memory({"page.mcpe": text, **scripts, **labels}))
    assert [f"{d.code} line {d.at.line if d.at else '?'}: {d.title}" for d in checked.diagnostics] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    gone = [target for target, _ in LINK.findall(text) if "://" not in target and not (page.parent / target).exists()]
    assert gone == []
