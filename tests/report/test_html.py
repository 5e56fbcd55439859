"""The page without a browser: its policy, its data, its pieces."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.report.html.content import About, Content, gather
from mcpeval_dsl.report.html.packing import Pieces, for_script, plain
from mcpeval_dsl.report.html.page import assets, render
from mcpeval_dsl.report.html.telling import bounded, told
from mcpeval_dsl.score.scorecard import build
from tests.records.samples import trial
from tests.report import gallery

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@cache
def content() -> Content:
    made = gallery.plan(trials=2)
    found = list(gallery.records(made))
    return gather(About("run-1", made), gallery.scored(made, found), found)


class Scripts(HTMLParser):
    """The scripts and styles of a page as a browser takes them apart."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)


def parsed(page: str) -> list[tuple[str, dict[str, str | None], str]]:
    reader = Scripts()
    reader.feed(page)
    return reader.found


@given(JSON)
def test_data_in_a_script_closes_no_tag_and_comes_back(value: object) -> None:
    text = for_script(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_what_json_cannot_say_is_said_as_text() -> None:
    assert json.loads(plain({"a": [float("nan"), float("-inf")], "b": "\ud800"})) == {"a": ["nan", "-inf"], "b": "?"}


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=3), max_size=6))
def test_a_trial_is_found_in_its_piece(trials: list[dict[str, str]]) -> None:
    pieces = Pieces()
    for each in trials:
        pieces.add(each)
    pieces.close()
    unpacked = [json.loads(zlib.decompress(base64.b64decode(piece))) for piece in pieces.done]
    assert [unpacked[place[0]][place[1]] for place in pieces.places if place is not None] == trials


def test_a_page_that_grows_too_large_leaves_out_transcripts_of_what_passed_first() -> None:
    pieces = Pieces(most=20_000)
    noise = hashlib.sha512()
    for number in range(600):
        noise.update(b"x")
        if pieces.wants(number % 2 == 0):
            pieces.add({"n": number, "text": noise.hexdigest() * 40})
    pieces.close()
    left = [number for number, place in enumerate(pieces.places) if place is None]
    first_failed = next(number for number in left if number % 2)
    assert left[0] % 2 == 0 and left[0] < first_failed
    assert all(place is None for place in pieces.places[first_failed:])
    assert len(pieces.places) == 600
    assert None not in content().data["places"]


def test_only_named_scripts_and_styles_may_run() -> None:
    found = parsed(render(content(), "as text"))
    policy = next(attributes["content"] or "" for tag, attributes, _ in found if "http-equiv" in attributes)
    assert "unsafe" not in policy and "http" not in policy
    for directive in ("default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert directive in policy
    runs = [
        (tag, text)
        for tag, attributes, text in found
        if tag == "style" or (tag == "script" and "type" not in attributes)
    ]
    assert [tag for tag, _ in runs] == ["style", "script"]
    for _, text in runs:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert next(attributes["type"] for _, attributes, _ in found if "type" in attributes) == "application/json"


def test_the_page_names_no_other_place() -> None:
    page = render(content())
    assert not re.search(
        r"\b(src|href|action|srcset|poster)\s*=", re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)
    )
    own = assets().script[len((assets().script).split('(() => {\n"use strict"')[0]) :]
    for sink in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        'setAttribute("on',
    ):
        assert sink not in own


def test_a_title_and_the_text_are_escaped() -> None:
    made = Content("</title><script>x</script>", content().data)
    found = parsed(render(made, "</pre><script>y</script>"))
    assert sum(tag == "script" and "type" not in attributes for tag, attributes, _ in found) == 1


def test_a_watched_page_may_ask_its_own_server_and_carries_no_transcript() -> None:
    made = gallery.plan(trials=1)
    records = list(gallery.records(made))
    live = gather(About("run-1", made, live=True), build(made, records), records)
    page = render(live)
    assert "connect-src &#39;self&#39;" in page and 'id="piece-0"' not in page


def test_a_transcript_tells_where_every_argument_came_from() -> None:
    call = CallRecord("c1", "agent", "tracker", "get_issue", {"key": "BILL-31", "page": 2, "note": "XQZ-88121"}, turn=1)
    data = told(trial(prompt="Who has BILL-31?", calls=(call,)))
    calls = [call for turn in data["turns"] for call in turn.get("calls", ())]
    found = {each["at"]: each["origin"] for each in calls[0]["from"]}
    assert found == {"/key": "prompt", "/page": "none", "/note": "invented"}


def test_a_task_tells_its_limits_those_of_an_axis_by_its_name() -> None:
    told_of = content().data["definitions"]
    first, second = told_of["tasks"][:2]
    assert first["limits"] == {"calls": ["effort", 15], "cost": [0.05, None], "time": [None, 90]}
    assert first["limits_per_turn"] == {"tokens": [20_000, None]}
    assert second["limits"] == {"calls": [4, 15]} and second["limits_per_turn"] == {}
    assert told_of["axes"] == {"effort": ["4", "6", "8"]}


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a": [1, 2.5, None, True]}, {"a": [1, 2.5, None, True]}),
        (2**60, str(2**60)),
        ("x" * 20_001, "x" * 20_000 + "\n… 1 more characters"),
        (list(range(402)), [*range(400), "… 2 more"]),
    ],
)
def test_values_are_bounded(value: object, kept: object) -> None:
    assert bounded(value) == kept


def test_nesting_is_bounded() -> None:
    value: object = "deep"
    for _ in range(100):
        value = [value]
    assert "… deeper" in json.dumps(bounded(value), ensure_ascii=False)


def test_each_kind_of_finding_has_words_on_the_page_and_a_line_in_the_manual() -> None:
    package = Path(__file__).parents[2] / "mcpeval_dsl"
    sources = "\n".join(path.read_text() for path in (package / "score").glob("*.py"))
    kinds = set(re.findall(r'(?:Sighting|_of_trials)\(\s*"(\w+)"', sources))
    assert len(kinds) >= 20
    script = (package / "report" / "html" / "assets" / "evidence.js").read_text()
    words = script.partition("KIND_OF_FINDING = {")[2].partition("};")[0]
    assert kinds == set(re.findall(r"^  (\w+): \"", words, re.MULTILINE))
    manual = (package.parent / "docs" / "findings.md").read_text()
    assert [kind for kind in kinds if f"`{kind}`" not in manual] == []
