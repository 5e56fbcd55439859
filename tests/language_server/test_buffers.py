"""Edits and positions, compared with the plain way: one text, counted character by character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.language_server.buffers import Buffer, Change
from mcpeval_dsl.language_server.positions import Encoding, TextLines

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXT = st.text(st.sampled_from("ab\n\r\té𝔘\u2028\u0085 漢"), max_size=40)


def size(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32":
        return len(text)
    return len(text.encode(encoding + ("-le" if encoding == "utf-16" else ""))) // (2 if encoding == "utf-16" else 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT, data=st.data())
def test_an_offset_comes_back_from_its_position(encoding: Encoding, text: str, data: st.DataObject) -> None:
    lines = TextLines(text)
    offset = data.draw(st.integers(0, len(text)))
    line, character = lines.position(offset, encoding)
    inside_end = offset and text[offset - 1 : offset + 1] == "\r\n"
    assert lines.offset((line, character), encoding) == (offset - 1 if inside_end else offset)
    start = lines.starts[line]
    assert character == size(text[start : offset - 1 if inside_end else offset], encoding)


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [("utf-16", 1, 0), ("utf-16", 2, 1), ("utf-8", 3, 0), ("utf-8", 4, 1), ("utf-32", 1, 1), ("utf-16", 99, 2)],
)
def test_a_position_inside_a_character_means_its_begin(encoding: Encoding, character: int, offset: int) -> None:
    assert TextLines("𝔘x\ny").offset((0, character), encoding) == offset


@settings(max_examples=300)
@given(
    text=TEXT,
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6), TEXT), max_size=4),
    encoding=st.sampled_from(ENCODINGS),
)
def test_edits_of_lines_are_edits_of_the_text(
    text: str, edits: list[tuple[float, int, str]], encoding: Encoding
) -> None:
    buffer = Buffer(text)
    for where, removed, typed in edits:
        lines = TextLines(text)
        start, end = (lines.position(int(where * len(text)) + more, encoding) for more in (0, removed))
        buffer.apply([Change(start, end, typed)], encoding)
        text = text[: lines.offset(start, encoding)] + typed + text[lines.offset(end, encoding) :]
        assert buffer.text == text
        assert len(buffer.lines) == len(TextLines(text).starts)


@pytest.mark.parametrize(
    ("start", "end"), [((-1, 0), (0, 0)), ((99, 99), (99, 99)), ((0, 5), (0, 1)), ((0, 0), (2**31, 2**31))]
)
def test_positions_that_are_none_do_no_harm(start: tuple[int, int], end: tuple[int, int]) -> None:
    buffer = Buffer("one\ntwo")
    buffer.apply([Change(start, end, "x")], "utf-16")
    assert "x" in buffer.text


def test_without_a_range_the_whole_text_is_replaced() -> None:
    buffer = Buffer("one\ntwo")
    buffer.apply([Change(None, None, "three"), Change((0, 5), (0, 5), "!")], "utf-16")
    assert buffer.text == "three!"
