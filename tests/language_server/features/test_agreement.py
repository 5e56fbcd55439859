"""The index of names says what the compiler says: over whole specs every name is found, and any may be renamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.language_server.features.rename import Refusal, rename
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import resolve
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from tests.language_server.features.cases import applied
from tests.language_server.features.marked import plain

ROOT = Path(__file__).parents[3]
SPECS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "specs").glob("*/*.mcpe"))
BUILT_IN = {variable.name for variable in VARIABLES}


def errors(path: str, text: str) -> list[str]:
    """Codes of the errors in a spec that stands at `path` with another text."""
    read = pipeline.ProjectFiles(ROOT).read
    checked = pipeline.check(path, lambda name: text.encode() if name == path else read(name))
    return [d.code for d in checked.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("path", SPECS)
def test_every_name_of_a_spec_is_explained(path: str) -> None:
    snapshot = plain((ROOT / path).read_text("utf-8"), path=path)
    for part in snapshot.parts:
        found = index(part.body).occurrences
        assert [o.name for o in found if o.role == "unknown"] == []
        for token in part.body.tokens:
            if token.kind == "NAME":
                assert any(o.start <= token.start < o.end for o in found), part.body.text[token.start : token.end]
        for occurrence in found:
            if occurrence.role in ("symbol", "field"):
                assert resolve(snapshot, part, occurrence).sites or occurrence.name in BUILT_IN, occurrence


@pytest.mark.parametrize("path", SPECS)
def test_a_spec_compiles_with_every_other_name_renamed(path: str) -> None:
    """One name after the other gets a new one, all in one text; then it means what it meant."""
    text = (ROOT / path).read_text("utf-8")
    before = plain(text, path=path)
    names = [d.name for part in before.parts for d in index(part.body).definitions]
    for number in range(0, len(names), 2):
        snapshot = plain(text, path=path)
        listed = [(part, d) for part in snapshot.parts for d in index(part.body).definitions]
        part, definition = listed[number]
        found = rename(snapshot, part.start + definition.name_start, f"fresh_{number}")
        assert not isinstance(found, Refusal), found
        assert any(change.start == part.start + definition.name_start for change in found)
        text = applied(text, [(c.start, c.end, c.text) for c in found])
    assert text.count("fresh_") > len(names) // 2 > 1
    assert errors(path, text) == errors(path, before.text) == []
