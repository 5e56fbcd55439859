"""Bytes to messages: the same whatever the chunks, bounded, linear."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.gateway.framing import LineFramer, parse_line
from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireNoise

LINES = st.lists(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20) | st.none(), max_size=3), max_size=8
)


def framed(data: bytes, cuts: list[int], limit: int = 10_000) -> list[RawMessage | WireNoise]:
    framer = LineFramer(limit)
    found: list[RawMessage | WireNoise] = []
    before = 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        found += framer.feed(data[before:cut])
        before = cut
    return found + framer.rest()


@given(LINES, st.lists(st.integers(0, 10_000), max_size=10))
def test_chunks_do_not_matter(objects: list[dict[str, object]], cuts: list[int]) -> None:
    data = b"".join(json.dumps(each).encode() + b"\r\n" for each in objects)
    assert [item.body for item in framed(data, cuts) if isinstance(item, RawMessage)] == objects


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_any_bytes_are_messages_or_noise(data: bytes, cuts: list[int]) -> None:
    assert all(isinstance(item, RawMessage | WireNoise) for item in framed(data, cuts, limit=50))


@given(st.integers(101, 5_000), st.lists(st.integers(0, 5_000), max_size=6))
def test_a_line_above_the_limit_is_noise_of_its_size(size: int, cuts: list[int]) -> None:
    good = b'{"a":1}\n'
    first, second = framed(b"x" * size + b"\n" + good, cuts, limit=100)
    assert isinstance(first, WireNoise)
    assert f"{size} bytes" in first.reason
    assert second == RawMessage({"a": 1}, 7)


def test_a_broken_message_still_tells_whom_it_was_for() -> None:
    for line, identity in (
        (b'{"jsonrpc":"2.0","id":12,"result":{"content":[', "12"),
        (b'{"jsonrpc":"2.0","id":"ab","result":nope}', "ab"),
        (b'{"result":{"x":' + b"9" * 9_000 + b'e,},"jsonrpc":"2.0","id":7}', "7"),
        (b"id: 12 and jsonrpc", None),
        (b'{"id": 3, "level": "info"', None),
    ):
        item = parse_line(line)
        assert isinstance(item, WireNoise)
        assert item.request_id == identity


def test_lone_surrogates_are_replaced_and_pairs_kept() -> None:
    item = parse_line(rb'{"a": ["\ud83d\ude00", "\ud800x"], "\udfff": 1}')
    assert item == RawMessage({"a": ["\N{GRINNING FACE}", "\ufffdx"], "\ufffd": 1}, 47)


@pytest.mark.timeout(30)  # a quadratic framer needs minutes for it
def test_a_long_line_in_small_chunks() -> None:
    framer = LineFramer(64 * 1024 * 1024)
    for _ in range(20_000):
        framer.feed(b"x" * 1_000)
    assert len(framer.rest()) == 1
