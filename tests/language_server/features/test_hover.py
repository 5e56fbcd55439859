"""Hover over `cases/hover.txt`: which words it is about, and what it says."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.hover import hover
from tests.language_server.features.cases import Case, read


@pytest.mark.parametrize("case", read("hover"), ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    found = hover(case.snapshot(), case.start)
    if case.lines == ["none"]:
        assert found is None
        return
    assert found is not None
    for line in case.lines:
        word, _, rest = line.partition(": ")
        if word == "range":
            assert case.texts[case.path][found.start : found.end] == rest
        else:
            assert word == "has"
            assert rest in found.text


def test_what_a_server_says_stays_in_its_fence() -> None:
    case = next(c for c in read("hover") if c.name == "a tool, its words fenced")
    found = hover(case.snapshot(), case.start)
    assert found is not None
    fence = found.text.index("````text")
    assert fence < found.text.index("![x]") < found.text.index("\n````", fence + 4)
