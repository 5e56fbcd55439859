"""Rows of tables in files, percentages behind a `let`, and arms that no matrix names."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.graders import Number
from mcpeval_dsl.semantics.model import TypedSuite
from tests.semantics.memory import Memory

HEAD = """suite base "Base" {}
server tracker { stdio "tracker" }
server other { stdio "other" }
model canned { script "canned.yaml" }
"""


def suite(text: str, **files: str) -> tuple[TypedSuite | None, list[str]]:
    named = {name.replace("_", ".", 1): body for name, body in files.items()}
    checked = pipeline.check("base.mcpe", Memory({"base.mcpe": HEAD + text, "canned.yaml": "", **named}))
    return checked.value, [d.title for d in checked.diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    "files",
    [
        {"q_json": '[{"id": "a", "n": 1}, {"id": "b", "n": 2}]'},
        {"q_jsonl": '{"id": "a", "n": 1}\n\n{"id": "b", "n": 2}\n'},
        {"q_csv": "id,n\na,1\nb,2\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_a_table_in_a_file(files: dict[str, str]) -> None:
    path = next(iter(files)).replace("_", ".", 1)
    text = f'table q file "{path}" {{ columns id, n }}\nfor r in q {{ task t {{ prompt r.id; grade number r.n }} }}'
    made, errors = suite(text, **files)
    assert errors == [] and made is not None
    (task,) = made.tasks
    assert task.loop is not None and task.loop.keys == ("a", "b")


def test_a_row_without_a_column() -> None:
    _, errors = suite('table q file "q.json" { columns id, n }', q_json='[{"id": 1}]')
    assert errors == ["`q.json` has no `n` in row 1"]


def test_a_percentage_behind_a_let_stays_one() -> None:
    made, errors = suite('let near = 5%\ntask t { prompt "x"; grade number 200 within near }')
    assert errors == [] and made is not None
    (grader,) = made.tasks[0].graders
    assert isinstance(grader, Number) and isinstance(grader.within, Literal)
    assert (grader.within.value, grader.within.unit) == (0.05, "percent")


def test_an_arm_that_no_matrix_names_is_the_arm_of_the_cells() -> None:
    made, errors = suite('arm narrow { servers tracker }\ntask t { prompt "x"; grade contains "x" }')
    assert errors == [] and made is not None
    assert [(cell.id, cell.arm) for cell in made.cells] == [("canned", "narrow")]
    assert made.unsupported == ()
