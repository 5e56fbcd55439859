"""What the table says `run` does not obey yet, the typed suite carries as refused: nothing is dropped silently."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.semantics.directives import TABLE, Directive
from tests.semantics.directives.test_lowered import SHARED, SUITE, _frame
from tests.semantics.memory import Memory

MATRIX = "matrix { model = [sonnet]; host = [h, loop] }"
CASES = [(entry, parent) for entry in TABLE for parent in entry.parents if entry.run == "later"]
FILES = {"catalogs/kubectl.json": "[]"}


def refused(text: str) -> set[str]:
    checked = pipeline.check("base.mcpe", Memory({"base.mcpe": text, **FILES}))
    suite = checked.value
    assert suite is not None, [d.title for d in checked.diagnostics if d.severity == "error"]
    found = [*suite.unsupported, *(item for task in suite.tasks for item in task.unsupported)]
    assert all(item.at is not None for item in found)
    return {item.construct for item in found}


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{c[0].name}")
def test_later_is_refused(case: tuple[Directive, str]) -> None:
    entry, parent = case
    text = _frame(parent).replace("@", entry.example)
    matrix = MATRIX if parent == "host" else ""
    task = "" if "task t" in text or parent == "for" else 'task own { prompt "x"; grade contains "x" }'
    used = 'profile p { @ }\ntask u { use p; prompt "x"; grade contains "x" }'.replace("@", entry.example)
    text = used if parent == "profile" else text
    assert refused(f"{SUITE}{SHARED}{text}\n{task}\n{matrix}\n") != set()


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ('task t { prompt "x"; grade any { for f in ["x"] limit 2 { contains f } } }', "`for` inside a grader"),
        ('task t { prompt "x"; grade judge { claim disclose "x" } }', "`disclose` of a claim"),
        ('server old { http "https://x.example"; oauth client_credentials { client_id "x" } }', "`oauth`"),
    ],
)
def test_words_that_are_refused(line: str, construct: str) -> None:
    task = "" if "task t" in line else 'task t { prompt "x"; grade contains "x" }'
    matrix = MATRIX if "host h" in line else ""
    assert construct in refused(f"{SUITE}{SHARED}{line}\n{task}\n{matrix}\n")
