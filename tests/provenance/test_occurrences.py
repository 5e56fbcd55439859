"""How a value stands in a text, and texts that no search should be slow or fail on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.gateway.model import CallError, CallRecord
from mcpeval_dsl.provenance.examine import examine
from mcpeval_dsl.provenance.occurrences import Needles, Place, readable
from tests.records.samples import call, trial


@pytest.mark.parametrize(
    ("value", "text", "place"),
    [
        ("BILL-48", '{"key": "BILL-48"}', Place.LEAF),
        ("BILL-48", "see BILL-48.", Place.WHOLE),
        ("BILL-48", "see BILL-4821", Place.INSIDE),
        ("4821", "see BILL-4821 there", Place.PART),
        ("/srv/notes", '"/srv/notes/plan.md"', Place.PART),
        ("9f8b2c41", "commit 9f8b2c41d0aa7e55", Place.PART),
        ("90211", '"id": 90211.0}', Place.WHOLE),
        ("90211", "90211.5", Place.PART),
        ("shop", "acme/shop#12", Place.PART),
        ("main", '"name":"main"', Place.LEAF),
    ],
)
def test_place(value: str, text: str, place: Place) -> None:
    assert Needles([value]).places(text)[value] is place


def test_what_json_escapes_is_read_as_it_is_meant() -> None:
    assert readable(r'"caf\u00e9\nA-1"') == '"café\nA-1"'


@given(st.lists(st.text("ab-", min_size=1, max_size=4), min_size=1, max_size=5), st.text("ab- ", max_size=40))
@settings(max_examples=200, deadline=None)
def test_every_value_that_is_there_is_found_and_no_other(values: list[str], text: str) -> None:
    assert set(Needles(values).places(text)) == {value for value in values if value in text}


def test_a_value_across_the_border_of_two_pieces_is_found() -> None:
    text = "x" * ((1 << 20) - 4) + " BILL-4821 " + "x" * 100
    assert Needles(["BILL-4821"]).places(text) == {"BILL-4821": Place.WHOLE}


def failing(number: int, key: str) -> CallRecord:
    error = CallError("tool_error", "not_found", f"not found: {key}"[:2000])
    return call(f"c{number}", arguments={"key": key}, at_ms=number * 10.0, error=error, turn=number, schema_valid=True)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 900 + '"A-1"' + "]" * 900,
        '{"a":' * 900 + '"A-1"' + "}" * 900,
        "a" * 100_000,
        "| a |\n|---|\n" * 1000,
        "\\u00",
    ],
    ids=["lists", "objects", "one word", "tables", "half an escape"],
)
def test_a_result_of_any_shape_is_gone_through(text: str) -> None:
    listed = call("c1", "list_issues", arguments={}, text=text, turn=1)
    examine(trial(calls=(listed, failing(2, "A-1"), failing(3, "a" * 50_000))))


def test_an_agent_that_repeats_itself_is_told_the_same_each_time() -> None:
    calls = tuple(failing(number, "A-77120") for number in range(1, 301))
    found = examine(trial(calls=calls, turns=(), prompt="x")).arguments
    assert {(trace.verdict, trace.origin) for trace in found} == {("invented", "invented")}
    assert len(found) == 300


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"caf\u00e9", "café"),
        (r"\ud83d\ude00 ok", "😀 ok"),
        (r"half \ud83d of one", "half \ufffd of one"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        ("plain", "plain"),
    ],
)
def test_escapes_are_read_as_characters_and_halves_as_none(text: str, read: str) -> None:
    assert readable(text) == read
    assert Needles(["ok"]).places(readable(text)) is not None
