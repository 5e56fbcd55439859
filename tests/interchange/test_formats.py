"""Each format once: a source in `cases`, the spec that is made of it (`expected`), and what its report says.

With MCPE_WRITE_EXPECTED=1 the specs are written anew; look at every difference before you keep them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpeval_dsl.interchange import report
from mcpeval_dsl.interchange.compiled import compile_suite
from mcpeval_dsl.interchange.importing import import_file
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.syntax.formatting import format_text

CASES = Path(__file__).parent / "cases"
EXPECTED = Path(__file__).parent / "expected"
SOURCES = {
    "evaluation.xml": ("mcp-builder evaluation.xml", 4, 1, 3, 0),
    "broken.xml": ("mcp-builder evaluation.xml", 3, 0, 3, 0),
    "checker/eval.yaml": ("mcpchecker YAML", 1, 0, 1, 0),
    "checker/tasks/deep/task.yaml": ("mcpchecker YAML", 1, 0, 1, 0),
    "mcp_evals.yaml": ("mcp-evals YAML", 2, 1, 1, 0),
    "tester.yaml": ("mcp-server-tester", 2, 0, 2, 3),
    "dataset.json": ("mcp-server-tester dataset", 1, 0, 1, 2),
    "mcpjam.json": ("MCPJam suite", 3, 0, 2, 0),
    "mcpvals.json": ("mcpvals JSON", 2, 0, 2, 2),
    "arbiter.json": ("arbiter JSON", 3, 0, 3, 0),
    "lastmile/datasets/shelf.yaml": ("lastmile mcp-eval dataset", 2, 0, 2, 0),
    "promptfoo.yaml": ("promptfoo configuration", 3, 0, 3, 0),
    "table.csv": ("table of prompts and tools", 3, 0, 3, 0),
    "table.md": ("table of prompts and tools", 6, 0, 6, 0),
}
"""Source -> format, tasks found, placeholders, runnable, calls of checks."""


def made(name: str) -> Suite:
    found = import_file(CASES / name, name)
    assert found.suite is not None, found.diagnostics
    return found.suite


@pytest.mark.parametrize("name", SOURCES)
def test_the_spec_is_the_expected_one_and_compiles(name: str) -> None:
    suite = made(name)
    compiled = compile_suite(suite, name)
    assert compiled.errors == []
    assert format_text(compiled.text).value == compiled.text
    path = EXPECTED / f"{name.replace('/', '_').rsplit('.', 1)[0]}_{name.rsplit('.', 1)[1]}.mcpe"
    if os.environ.get("MCPE_WRITE_EXPECTED") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(compiled.text, encoding="utf-8")
    assert compiled.text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SOURCES)
def test_the_report_counts(name: str) -> None:
    suite = made(name)
    compile_suite(suite, name)
    counts = report.counts(suite)
    assert (suite.format, counts.found, counts.placeholders, counts.runnable, counts.checks) == SOURCES[name]


NOTES = {
    "evaluation.xml": [
        ("look", "untestable until `let who_put_the_vase_there_answer`", 19),
        ("lost", "<rubric> has no counterpart", 24),
        ("changed", "<notes> became a comment", 15),
        ("changed", "compared by character", 1),
    ],
    "broken.xml": [
        ("changed", "an `&` that is no entity", 3),
        ("changed", "`<String>` is read as text", 3),
        ("changed", "`</question>` of line 6 is missing", 7),
        ("changed", "2 roots", 10),
    ],
    "checker/eval.yaml": [
        ("lost", "the assertion `noDuplicateCalls`", 16),
        ("lost", "`llmJudge`", 6),
        ("lost", "`shelf.tidy` has no counterpart", 18),
        ("changed", "`SHELF_KEY` is read from your environment", 5),
    ],
    "mcp_evals.yaml": [("lost", "the model's key", 1), ("changed", "scores from 1 to 5", 3)],
    "tester.yaml": [("lost", "the pattern `(?<=x)y` cannot be used", 25), ("changed", "the least score 0.8", 30)],
    "dataset.json": [("lost", "`snapshot` has no counterpart", 7), ("changed", "`toolName` stands twice", 9)],
    "mcpjam.json": [
        ("lost", "a step `interact`", 11),
        ("lost", "it is switched off", 14),
        ("lost", "`passThreshold`", 5),
    ],
    "mcpvals.json": [("lost", "`resourceSuites`", 10), ("look", "`API_KEY` is read from your environment", 2)],
    "lastmile/datasets/shelf.yaml": [
        ("lost", "the evaluator `Unheard`", 17),
        ("changed", "a share of failing calls", 19),
    ],
    "promptfoo.yaml": [("lost", "the assertion `javascript`: a program", 17)],
    "table.csv": [("lost", "the column `why`", 2)],
    "table.md": [("look", "places to be filled in, such as <the thing>", 13), ("lost", "names no tool", 15)],
}


@pytest.mark.parametrize(("name", "what", "text", "line"), [(n, *note) for n, notes in NOTES.items() for note in notes])
def test_the_report_says_what_and_where(name: str, what: str, text: str, line: int) -> None:
    found = [(note.what, note.line) for note in report.notes(made(name)) if text in note.text]
    assert (what, line) in found, [(note.what, note.line, note.text) for note in report.notes(made(name))]


def test_both_spellings_of_what_mcp_evals_expects_become_a_claim(tmp_path: Path) -> None:
    said = 'evals:\n  - {name: a, prompt: "Which is oldest?", expectedResult: "The lamp"}\n'
    (tmp_path / "evals.yaml").write_text(said + '  - {name: b, prompt: "And whose?", expectedResult: "TBD"}\n')
    suite = import_file(tmp_path / "evals.yaml", "evals.yaml").suite
    assert suite is not None
    text = compile_suite(suite, "evals.yaml").text
    assert "The answer is as expected: The lamp" in text and 'needs  b_answer != "TBD"' in text
    assert not [note for note in suite.notes if note.what == "lost"]


def test_every_importer_has_a_case() -> None:
    from mcpeval_dsl.interchange.importing import formats

    assert {module.TITLE for module in formats().values()} == {title for title, *_ in SOURCES.values()}
