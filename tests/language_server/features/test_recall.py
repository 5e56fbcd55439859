"""Typing the specs of the project again: at each word, with the rest of its statement not yet there, the word is proposed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.index.part import index
from tests.language_server.features.marked import plain

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/*.mcpe"))
FREE = {
    "path",
    "key",
    "header",
    "metric",
    "tag",
    "tool",
    "argument",
}  # chosen by the author, or by a server without a lock


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_each_word_is_proposed_where_it_stands(path: Path) -> None:
    text = path.read_text("utf-8")
    whole = plain(text)
    words = [(part, o) for part in whole.parts for o in index(part.body).occurrences]
    asked = [(p, o) for p, o in words if not o.defines and o.role not in FREE]
    missing = []
    for part, occurrence in asked:
        offset = part.start + occurrence.start
        snapshot = plain(f"{text[:offset]}\n{text[part.end :]}")
        if occurrence.name not in [item.label for item in complete(snapshot, offset)]:
            missing.append((whole.position(offset)[0] + 1, occurrence.name))
    assert len(asked) > 10
    assert missing == []
