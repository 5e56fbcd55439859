"""Files are written whole or not at all: by `project.writing` and `records.folder`; elsewhere only where it may be."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mcpeval_dsl"
ELSEWHERE = {
    "project/writing.py": "it is what writes them",
    "records/folder.py": "it is what writes them",
    "cli/main.py": "standard streams",
    "cli/reporting.py": "adds to the summary of a step, which GitHub owns",
    "execute/files.py": "the folder of one trial",
    "execute/preparing.py": "the mark, in a folder made anew, that it is done",
    "execute/processes.py": "a log that grows",
    "execute/trust.py": "whole too, and private whatever stood there",
    "gateway/control.py": "a socket",
    "gateway/network.py": "a space of one trial",
    "grade/calling.py": "a pipe",
    "plan/schema.py": "schemas of this repository",
}


def writes(node: ast.AST) -> bool:
    """`write_bytes`, `write_text`, or an open for writing."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in ("write_bytes", "write_text"):
        return True
    modes = [each.value for each in (*node.args, *(k.value for k in node.keywords)) if isinstance(each, ast.Constant)]
    return name in ("open", "fdopen") and any(
        isinstance(mode, str) and set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes
    )


def test_what_counts_as_writing() -> None:
    found = [
        writes(node) for node in ast.walk(ast.parse("p.write_text(x); open(p, 'wb'); open(p); p.open('r'); f('w')"))
    ]
    assert sum(found) == 2


def test_files_are_written_by_those_who_write_them_whole() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(writes(node) for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    }
    assert found == set(ELSEWHERE)
