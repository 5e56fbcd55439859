"""Parts after an edit are the parts of the edited text, read anew."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.language_server.parts import RECENT, Body, Parts, parts_after, parts_of
from mcpeval_dsl.language_server.snapshot import moves

SPECS = sorted((Path(__file__).parents[2] / "specs").rglob("*.mcpe"))
TEXTS = [path.read_text("utf-8") for path in SPECS]
TYPED = [
    "{",
    "}",
    '"',
    '"""',
    "a",
    "\n",
    "\ntask x {\n}\n",
    "#",
    "(",
    ")",
    "]",
    "\r\n",
    "𝔘",
    "/",
    "$",
    "'",
    "",
    " ",
    "let x = 1\n",
]


def shown(parts: Parts) -> list[tuple[int, str]]:
    return [(part.start, part.body.text) for part in parts.items]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(TYPED)), min_size=1, max_size=6),
)
def test_parts_after_edits_are_those_of_the_text(text: str, edits: list[tuple[float, int, str]]) -> None:
    parts = parts_of("s.mcpe", text)
    for where, removed, typed in edits:
        start = int(where * len(text))
        end = min(len(text), start + removed)
        after = text[:start] + typed + text[end:]
        parts = parts_after("s.mcpe", parts, after, start, end, len(after) - len(text))
        assert shown(parts) == shown(parts_of("s.mcpe", after))
        text = after


@pytest.mark.parametrize("text", TEXTS, ids=[path.stem for path in SPECS])
def test_an_edit_leaves_the_other_parts_as_they_are(text: str) -> None:
    before = parts_of("s.mcpe", text)
    at = text.index("task ") + 3
    after = parts_after("s.mcpe", before, text[:at] + "x" + text[at:], at, at, 1)
    kept = {id(part.body) for part in before.items} & {id(part.body) for part in after.items}
    assert len(kept) == len(before.items) - 1


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_the_region_in_which_two_texts_differ(before: str, after: str) -> None:
    found = moves(before, after)
    assert after[: found.start] == before[: found.start]
    assert after[found.before + found.by :] == before[found.before :]
    assert found.start <= found.before


def test_a_name_moves_with_the_text_and_goes_when_it_is_typed_in() -> None:
    found = moves("let one = 1\nlet two = 2\n", "let one = 123\nlet two = 2\n")
    assert found.place(4, 7) == (4, 7)
    assert found.place(16, 19) == (18, 21)
    assert found.place(10, 11) is None


def test_what_is_known_of_parts_does_not_grow_with_keystrokes() -> None:
    """Only the parts of open files, and those used last, are kept."""
    gc.collect()
    begin = "task t { prompt " + '"x"' * 40 + " }\n"
    for number in range(3 * RECENT // len(begin)):
        parts_of("grown.mcpe", f"{begin}# {number}\n")
    alive = [body for body in gc.get_objects() if isinstance(body, Body) and body.file.path == "grown.mcpe"]
    assert sum(len(body.text) for body in alive) <= RECENT


def test_a_part_that_is_open_is_found_again_whatever_came_between() -> None:
    held = parts_of("held.mcpe", "task t { }\n").items[0]
    for number in range(2 * RECENT // 1000):
        parts_of("other.mcpe", f"let x{number} = 1 # {'x' * 1000}\n")
    assert parts_of("held.mcpe", "task t { }\n").items[0].body is held.body
