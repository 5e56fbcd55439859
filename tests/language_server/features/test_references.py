"""References over `cases/references.txt`: every place, the name in «»."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.references import highlights, references
from tests.language_server.features.cases import Case, read


@pytest.mark.parametrize("case", read("references"), ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    lines = case.lines
    definitions = lines[0] != "uses only"
    expected = lines if definitions else lines[1:]
    found = references(case.snapshot(), case.start, definitions=definitions)
    if expected == ["none"]:
        assert found == []
        return
    shown = []
    for place in found:
        text = place.snapshot.text
        shown.append(
            f"{place.snapshot.path}: {text[: place.start]}«{text[place.start : place.end]}»{text[place.end :]}"
        )
    assert len(shown) == len(expected), shown
    for line in expected:
        path, _, part = line.partition(": ")
        assert any(text.startswith(f"{path}: ") and part in text for text in shown), line


@pytest.mark.parametrize("case", read("references"), ids=lambda c: c.name)
def test_highlights_are_those_of_the_file(case: Case) -> None:
    snapshot = case.snapshot()
    found = highlights(snapshot, case.start)
    everywhere = [p for p in references(snapshot, case.start) if p.snapshot.path == case.path]
    if everywhere:
        assert [(h.start, h.end, h.written) for h in found] == [
            (p.start, p.end, p.occurrence.defines) for p in everywhere
        ]
    else:
        assert [case.texts[case.path][h.start : h.end] for h in found] == ["grade"]
