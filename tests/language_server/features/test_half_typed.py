"""Every feature answers for every text: cut off, with tokens missing, with anything typed anywhere; and soon."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.features.definition import definition
from mcpeval_dsl.language_server.features.folding import folding
from mcpeval_dsl.language_server.features.formatting import formatting
from mcpeval_dsl.language_server.features.hover import hover
from mcpeval_dsl.language_server.features.links import links
from mcpeval_dsl.language_server.features.references import highlights, references
from mcpeval_dsl.language_server.features.rename import prepare, rename
from mcpeval_dsl.language_server.features.selection import selection
from mcpeval_dsl.language_server.features.semantic_tokens import semantic_tokens
from mcpeval_dsl.language_server.features.signature_help import signature_help
from mcpeval_dsl.language_server.features.symbols import document_symbols, workspace_symbols
from mcpeval_dsl.language_server.snapshot import Snapshot
from tests.language_server.features.marked import plain

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/*.mcpe"))
LONGEST = 0.5  # seconds of CPU for all features at one offset; far above what they take, so that a slow machine passes

AT: tuple[Callable[[Snapshot, int], object], ...] = (
    complete,
    hover,
    definition,
    references,
    highlights,
    prepare,
    lambda snapshot, offset: rename(snapshot, offset, "fresh_name"),
    selection,
    signature_help,
)
WHOLE: tuple[Callable[[Snapshot], object], ...] = (
    document_symbols,
    folding,
    semantic_tokens,
    links,
    formatting,
    lambda snapshot: workspace_symbols([snapshot], "a"),
)
TYPED = (
    '"',
    '"""',
    "{",
    "}",
    "(",
    ")",
    "[",
    "{{",
    "}}",
    ".",
    ",",
    ":",
    "=",
    "|",
    "$",
    "#",
    ";",
    "\n",
    "\r\n",
    "\t",
    "🦊",
    "x",
)


def ask_everything(snapshot: Snapshot, offset: int) -> None:
    started = time.process_time()
    for feature in AT:
        feature(snapshot, offset)
    for whole in WHOLE:
        whole(snapshot)
    assert time.process_time() - started < LONGEST


def ranges_are_sound(snapshot: Snapshot, offset: int) -> None:
    for item in complete(snapshot, offset):
        assert 0 <= item.start <= offset <= item.end <= len(snapshot.text)
        assert "\n" not in snapshot.text[item.start : item.end]
    shown = hover(snapshot, offset)
    assert shown is None or shown.start <= offset <= shown.end
    for start, end in selection(snapshot, offset):
        assert 0 <= start <= offset <= end <= len(snapshot.text)


def spoiled(text: str, chance: random.Random) -> tuple[str, int]:
    """A text as it may look while it is typed, and where."""
    at = chance.randrange(len(text))
    way = chance.randrange(3)
    if way == 0:
        return text[:at], at
    if way == 1:
        return text[:at] + text[at + chance.randrange(1, 12) :], at
    typed = chance.choice(TYPED)
    return text[:at] + typed + text[at:], at + len(typed)


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_spoiled_specs(path: Path) -> None:
    chance = random.Random(path.stem)  # the same texts in every run
    text = path.read_text("utf-8")
    for _ in range(6):
        broken, at = spoiled(text, chance)
        snapshot = plain(broken)
        for offset in (at, min(at + 1, len(broken)), chance.randrange(len(broken) + 1)):
            ask_everything(snapshot, offset)
            ranges_are_sound(snapshot, offset)


SHORT = (
    'harvest a = s.t(x: "{{ b.c | first }}") { k = $.i[0].k }\n'
    'task t { prompt """\n 🦊 {{ a.k }}\n"""; expect any(s.t(y == a.k)) }\n'
)


@pytest.mark.parametrize("ending", ["", "}", '"', "\n"])
def test_cut_at_every_offset(ending: str) -> None:
    for at in range(0, len(SHORT) + 1, 3):
        snapshot = plain(SHORT[:at] + ending)
        ask_everything(snapshot, at)
        ranges_are_sound(snapshot, at)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([*TYPED, "task t ", "grade ", "a", " in ", "not ", "list_*", 'r"', "20k", "pass^3 "]),
        max_size=14,
    )
)
def test_anything_typed(pieces: list[str]) -> None:
    text = "".join(pieces)
    snapshot = plain(text)
    for offset in {0, len(text) // 2, len(text)}:
        ask_everything(snapshot, offset)
        ranges_are_sound(snapshot, offset)


NESTED = {
    "template": 'task t { prompt "{{ ' + "f(" * 2000 + '" }',
    "index": 'task t { prompt "{{ x' + "[x" * 2000 + ' }}" }',
    "brackets": "let x = " + "(" * 2000,
    "lists": "let x = " + "[" * 2000,
    "objects": "let x = " + "{a: " * 2000,
    "blocks": "task t " + "{ a " * 2000,
    "fields": "let x = a" + ".b" * 2000,
    "pipes": 'let x = "{{ x' + " | f" * 2000 + ' }}"',
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_without_end(name: str) -> None:
    snapshot = plain(NESTED[name])
    for offset in (5, len(snapshot.text) // 2, len(snapshot.text)):
        for feature in AT:
            feature(snapshot, offset)
    for whole in WHOLE:
        whole(snapshot)
