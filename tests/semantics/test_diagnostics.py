"""`tests/cases/diagnostics/*.md`: prose and specs; a comment `# error: [CODE]` stands on each line with an error.

A heading `##` begins a case. Its fences: `mcpe` or `mcpe PATH` (a spec; the first is compiled), `text PATH` (a file
beside it), `json SERVER` (locked tools as a list), and `diagnostics` (the messages; `--update-cases` rewrites them).
On the page `design` advice is asked for, and a case looks only at the codes that its heading names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from tests.semantics.memory import Memory

CASES = Path(__file__).parents[1] / "cases" / "diagnostics"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"#.*?\b(error|warning|note): ((?:\[MCPE\d{3}\](?:, )?)+)")


@dataclass
class Case:
    page: Path
    title: str
    body: str
    files: dict[str, str] = field(default_factory=dict)
    known: dict[str, KnownServer] = field(default_factory=dict)
    messages: str = ""

    def __post_init__(self) -> None:
        for kind, name, text in FENCE.findall(self.body):
            if kind == "diagnostics":
                self.messages = text
            elif kind == "json":
                tools = {t["name"]: KnownTool(**t) for t in json.loads(text)}
                self.known[name] = KnownServer(name, tools)
            else:
                self.files[name or "spec.mcpe"] = text

    @property
    def main(self) -> str:
        return next(iter(self.files))

    def found(self) -> list[Diagnostic]:
        checked = pipeline.check(self.main, Memory(self.files), self.known, design=self.page.stem == "design")
        only = re.findall(r"MCPE\d{3}", self.title)
        found = [d for d in checked.diagnostics if d.code in only or not only]
        return sorted(found, key=lambda d: (str(d.at and d.at.path), d.at.line if d.at else 0, d.code))

    def expected(self) -> list[tuple[str, int, str, str]]:
        marks = []
        for path, text in self.files.items():
            for number, line in enumerate(text.splitlines(), 1):
                for severity, codes in MARK.findall(line):
                    marks += [(path, number, severity, code) for code in re.findall(r"MCPE\d{3}", codes)]
        return sorted(marks)


def shown(diagnostic: Diagnostic) -> str:
    lines = [f"{diagnostic.at}: {diagnostic.severity} {diagnostic.code}: {diagnostic.title}"]
    lines += [f"  {label.at}: {label.text}" for label in diagnostic.labels]
    if diagnostic.body:
        lines.append(f"  {diagnostic.body}")
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    return "\n".join(lines) + "\n"


def cases() -> Iterator[Case]:
    for page in sorted(CASES.glob("*.md")):
        for part in re.split(r"^(?=## )", page.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            yield Case(page, part.splitlines()[0].removeprefix("## "), part)


@pytest.mark.parametrize("case", list(cases()), ids=lambda c: f"{c.page.stem}: {c.title}")
def test_case(case: Case, update_cases: bool) -> None:
    found = case.found()
    places = sorted((d.at.path, d.at.line, d.severity, d.code) for d in found if d.at is not None)
    assert places == case.expected(), "\n".join(map(shown, found))
    messages = "".join(map(shown, found))
    if update_cases and messages != case.messages:
        fence = f"```diagnostics\n{messages}```\n" if messages else ""
        body = re.sub(r"\n```diagnostics\n.*?^```\n", "", case.body, flags=re.MULTILINE | re.DOTALL).rstrip()
        text = case.page.read_text("utf-8")
        case.page.write_text(text.replace(case.body, f"{body}\n\n{fence}\n"), "utf-8")
        return
    assert messages == case.messages
