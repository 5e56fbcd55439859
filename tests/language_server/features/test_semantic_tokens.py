"""Semantic tokens: the class of each word, and that deltas and ranges say the same as the whole."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.language_server.features.semantic_tokens import (
    LEGEND,
    MODIFIERS,
    OF_TOKENS,
    classes,
    delta,
    semantic_tokens,
    semantic_tokens_between,
)
from mcpeval_dsl.language_server.snapshot import Snapshot
from tests.language_server.features.cases import Case, read
from tests.language_server.features.marked import Memory, plain

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/*.mcpe"))


def decoded(snapshot: Snapshot, data: list[int]) -> list[tuple[int, int, str, int]]:
    """(start, end, class, modifiers) from the numbers of the protocol."""
    found = []
    line = character = 0
    for at in range(0, len(data), 5):
        ahead, column, length, kind, modifiers = data[at : at + 5]
        line, character = line + ahead, column if ahead else character + column
        start, end = snapshot.offset((line, character)), snapshot.offset((line, character + length))
        found.append((start, end, LEGEND[kind], modifiers))
    return found


@pytest.mark.parametrize("case", read("semantic_tokens"), ids=lambda c: c.name)
def test_cases(case: Case) -> None:
    snapshot = case.snapshot()
    lines: dict[int, list[str]] = {}
    for start, end, kind, modifiers in decoded(snapshot, semantic_tokens(snapshot)):
        names = [name for number, name in enumerate(MODIFIERS) if modifiers & (1 << number)]
        shown = ":".join([snapshot.text[start:end], kind, *names])
        lines.setdefault(snapshot.position(start)[0], []).append(shown)
    assert [" ".join(words) for words in lines.values()] == case.expected.splitlines()


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_classes_are_those_of_the_scanner_but_for_names(path: Path) -> None:
    snapshot = plain(path.read_text("utf-8"))
    for part in snapshot.parts:
        found = list(classes(part.body))
        assert all(one[1] <= other[0] for one, other in pairwise(found))
        for token in part.body.tokens:
            inside = [kind for start, end, kind, _ in found if start < token.end and token.start < end]
            if token.kind in ("COMMENT", "NUMBER", "REGEX", "JSONPATH"):
                assert inside == [OF_TOKENS[token.kind]]
            elif token.kind in ("STRING", "RAW", "TEXT"):
                assert inside[0] == inside[-1] == "string"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_behind_astral_characters_and_tabs(encoding: str) -> None:
    text = 'task t {\r\n\tprompt "🦊é {{ billing.key }} 🦊"; tags read # 🦊\r\n}\r\n'
    snapshot = Memory({"a.mcpe": text}, encoding=encoding).snapshot("a.mcpe")  # type: ignore[arg-type]
    assert snapshot is not None
    shown = [(text[s:e], kind) for s, e, kind, _ in decoded(snapshot, semantic_tokens(snapshot))]
    assert ("billing", "variable") in shown
    assert ("read", "decorator") in shown
    assert ("# 🦊", "comment") in shown


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_a_range_has_the_tokens_of_its_parts(path: Path) -> None:
    snapshot = plain(path.read_text("utf-8"))
    middle = len(snapshot.text) // 2
    part = snapshot.part_at(middle)
    whole = decoded(snapshot, semantic_tokens(snapshot))
    found = decoded(snapshot, semantic_tokens_between(snapshot, middle, middle))
    assert found == [token for token in whole if part.start <= token[0] < part.end]


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30))
def test_a_delta_leads_from_one_answer_to_the_next(before: list[int], after: list[int]) -> None:
    data = list(before)
    for edit in delta(before, after):
        data[edit.start : edit.start + edit.delete] = edit.data
    assert data == after
