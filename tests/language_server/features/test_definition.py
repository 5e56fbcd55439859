"""Definition over `cases/definition.txt`: the file and the line it leads to, the name in «»."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.definition import definition
from tests.language_server.features.cases import Case, read


@pytest.mark.parametrize("case", read("definition"), ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    found = definition(case.snapshot(), case.start)
    if case.lines == ["none"]:
        assert found is None
        return
    assert found is not None
    assert found.start <= case.start <= found.end
    assert len(found.targets) == len(case.lines)
    for target, line in zip(found.targets, case.lines, strict=True):
        path, _, expected = line.partition(": ")
        text = target.snapshot.text
        marked = f"{text[: target.start]}«{text[target.start : target.end]}»{text[target.end :]}"
        assert target.snapshot.path == path
        assert expected in marked
        assert target.whole_start <= target.start <= target.end <= max(target.whole_end, target.end)
