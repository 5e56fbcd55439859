"""Completion over `cases/completion.txt`: what comes first, what is there, what is not, and what an edit makes of the line."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.features.completion.model import Item
from tests.language_server.features.cases import Case, applied, read

CASES = read("completion")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    snapshot = case.snapshot()
    found = complete(snapshot, case.start)
    labels = [item.label for item in found]
    for line in case.lines:
        word, _, rest = line.partition(":") if line != "none" else ("none", "", "")
        names = [name.strip() for name in rest.split(",") if name.strip()]
        if word == "none":
            assert labels == []
        elif word == "first":
            assert labels[: len(names)] == names
        elif word == "only":
            assert sorted(labels) == sorted(names)
        elif word == "has":
            assert set(names) <= set(labels), labels
        elif word == "not":
            assert not set(names) & set(labels)
        else:
            _edit(case, found, word, rest.strip())


def _edit(case: Case, found: list[Item], word: str, rest: str) -> None:
    label, _, expected = (part.strip() for part in rest.partition("=>"))
    item = next(item for item in found if item.label == label)
    if word == "snippet":
        assert item.snippet == expected
        return
    assert word == "edit"
    text = case.texts[case.path]
    line = text[: item.start].count("\n")
    assert applied(text, [(item.start, item.end, item.text)]).splitlines()[line].strip() == expected
