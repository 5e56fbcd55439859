"""JSON from outside that is nested deeper than every reader takes is refused where it comes in."""

from __future__ import annotations

import json

import pytest

from mcpeval_dsl.agents.answers import extract
from mcpeval_dsl.gateway.framing import parse_line
from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireNoise
from mcpeval_dsl.values.decode import Form, decoded
from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.nesting import MOST_LEVELS, json_within, shallow


def _nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_the_limit_itself_is_read() -> None:
    assert shallow(json_within(_nested(MOST_LEVELS)))


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 300, 850, 2_000, 100_000])
def test_what_is_deeper_is_refused(levels: int) -> None:
    with pytest.raises(ValueError, match="deep"):
        json_within(_nested(levels))


def test_many_brackets_side_by_side_are_fine() -> None:
    assert len(json_within("[" + ",".join(["{}"] * 5_000) + "]")) == 5_000


@pytest.mark.parametrize("levels", [300, 850, 50_000])
def test_a_message_of_a_server_is_no_message(levels: int) -> None:
    line = '{"jsonrpc": "2.0", "id": 7, "result": {"structuredContent": ' + _nested(levels) + "}}"
    found = parse_line(line.encode())
    assert isinstance(found, WireNoise) and found.request_id == "7"
    assert isinstance(parse_line(b'{"jsonrpc": "2.0", "id": 7, "result": {}}'), RawMessage)


@pytest.mark.parametrize("form", ["json", "python"])
def test_a_value_read_from_a_text(form: Form) -> None:
    with pytest.raises(EvaluationError, match="deep"):
        decoded(_nested(150), form)


def test_an_answer_that_is_too_deep_stays_a_text() -> None:
    said = json.dumps({"answer": "x"})[:-1] + ', "more": ' + _nested(400) + "}"
    assert extract(said, "json").text == said


@pytest.mark.parametrize(("form", "text"), [("python", "0x" + "f" * 9_000), ("yaml", "a: " + "1:" * 9_000 + "1")])
def test_a_whole_number_that_cannot_be_written_out(form: Form, text: str) -> None:
    with pytest.raises(EvaluationError, match="too many digits"):
        decoded(text, form)
