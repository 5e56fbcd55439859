"""Results as a model sees them, and as a record keeps them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.gateway.results import bounded, bounded_blocks, model_text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "image", "mimeType": "image/png", "data": "QUJD"}]}, "[image image/png, 3 bytes]"),
        ({"content": [{"type": "audio", "data": "QQ=="}]}, "[audio of unknown type, 1 bytes]"),
        ({"content": [{"type": "resource_link", "uri": "a://b", "name": "n"}]}, "[resource a://b n]"),
        ({"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "inside"}}]}, "inside"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a://b", "mimeType": "x/y", "blob": "QUJD"}}]},
            "[resource a://b x/y, 3 bytes]",
        ),
        ({"structuredContent": {"n": 1}}, '{"n":1}'),
        ({"content": [], "structuredContent": [1]}, "[1]"),
        ({"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 1}, "_meta": {"x": 1}}, "a"),
        ({"content": "plain"}, "plain"),
        ({"content": [None, 3]}, ""),
        ({}, ""),
    ],
)
def test_what_a_model_sees(result: dict[str, Any], text: str) -> None:
    assert model_text(result) == text


@given(st.text(max_size=300), st.integers(0, 100))
def test_a_bounded_text_keeps_its_ends(text: str, limit: int) -> None:
    short, cut = bounded(text, limit)
    assert cut is (len(text) > limit)
    if cut:
        half = limit // 2
        assert short.startswith(text[:half])
        assert short.endswith(text[len(text) - half :])
        assert str(len(text) - 2 * half) in short
    else:
        assert short == text


def test_texts_of_one_result_share_the_limit() -> None:
    blocks = tuple({"type": "text", "text": "x" * 600} for _ in range(4))
    kept = bounded_blocks(blocks, 1_000)
    assert kept[0]["text"] == "x" * 600
    assert sum(len(block["text"]) for block in kept) < 1_200


def test_a_large_blob_is_kept_as_its_size() -> None:
    (block,) = bounded_blocks(({"type": "image", "data": "QUJD" * 100_000},))
    assert (block["data"], block["bytes"]) == ("", 300_000)
