"""Rename over `cases/rename.txt`: what the files become, or why not."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.rename import Refusal, Renameable, prepare, rename
from tests.language_server.features.cases import Case, applied, read, texts_of


@pytest.mark.parametrize("case", read("rename"), ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    head, _, expected = case.expected.partition("\n")
    found = rename(case.snapshot(), case.start, head.removeprefix("to: "))
    if expected.startswith("refused: "):
        assert isinstance(found, Refusal)
        assert found.reason.startswith(expected.removeprefix("refused: "))
        return
    assert not isinstance(found, Refusal), found
    edits: dict[str, list[tuple[int, int, str]]] = {}
    for change in found:
        edits.setdefault(change.snapshot.path, []).append((change.start, change.end, change.text))
    after = {path: applied(text, edits.get(path, [])) for path, text in case.texts.items()}
    assert after == texts_of(expected)


def test_to_its_own_name_is_no_edit() -> None:
    case = next(c for c in read("rename") if c.name == "a profile")
    assert rename(case.snapshot(), case.start, "writing") == []


def test_prepare_gives_the_name_without_its_quotes() -> None:
    case = next(c for c in read("rename") if c.name == "a tag in quotes loses them")
    text = case.texts[case.path]
    start = text.index("two words")
    assert prepare(case.snapshot(), case.start) == Renameable(start, start + 9, "two words")
