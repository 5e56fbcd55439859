"""How attempts add up to a verdict, which calls a rung holds, and where a value is bound again. Nothing is started."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpeval_dsl.execute.ladder import SPARE, WHOLE, Attempt, Judged, climb
from mcpeval_dsl.execute.ladder_places import Place, at, holds, places
from mcpeval_dsl.execute.ladder_replay import _compared
from mcpeval_dsl.execute.ladder_slice import rebound, refusal, rungs
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission
from mcpeval_dsl.records.model import Lead
from mcpeval_dsl.report.reproduction import Unwritable, expression
from mcpeval_dsl.values import regex

LETTERS = {"F": "fails", "P": "passes", "E": "later", "x": "invalid", "M": "limit"}


def climbed(*rungs: str) -> tuple[Judged[int], list[str]]:
    """What rungs come to whose attempts go as the letters say; and all that were made."""
    left = [list(letters) for letters in rungs]
    made: list[str] = []

    async def attempt(rung: int, number: int) -> Sequence[Attempt]:
        letters = [left[rung].pop(0) for _ in range(number)]
        made.extend(letters)
        return [Attempt(LETTERS[letter], f"because {letter}") for letter in letters]  # type: ignore[arg-type]

    return asyncio.run(climb(range(len(rungs)), attempt)), made


@pytest.mark.parametrize(
    ("case", "attempts", "status", "failed", "counted"),
    [
        ("3 of 3 and 10 of 10", ["F" * 10], "confirmed", 10, 10),
        ("3 of 3, then 6 of 7", ["FFFFFFFPFF"], "flaky", 9, 10),
        ("0 of 3", ["PPP"], "not_reproduced", 0, 3),
        ("1 of 3", ["PFP"], "flaky", 1, 3),
        ("only after more calls", ["PPP", "PPP", "F" * 10], "confirmed", 10, 10),
        ("flaky on the first rung, always on the second", ["FPP", "F" * 10], "confirmed", 10, 10),
        ("flaky on the first rung, never on the second", ["FPP", "PPP"], "flaky", 1, 3),
        ("later", ["EEE"], "eventual", 3, 3),
        ("later, but not always", ["EEFFFFFFFF"], "confirmed", 10, 10),
        ("never valid", ["xxx"], "unconfirmed", 0, 0),
        ("not valid, then on a longer rung", ["xxx", "F" * 10], "confirmed", 10, 10),
        ("not valid, then passing", ["xxx", "PPP"], "not_reproduced", 0, 3),
        ("one invalid is made up for", ["FxFF" + "F" * 7], "confirmed", 10, 10),
        ("too many invalid", ["FFF" + "x" * 7], "unconfirmed", 3, 3),
        ("our own limit", ["MMM"], "resource_limit", 0, 3),
    ],
)
def test_attempts_add_up(case: str, attempts: list[str], status: str, failed: int, counted: int) -> None:
    judged, _ = climbed(*attempts)
    assert (judged.status, judged.failed, judged.counted) == (status, failed, counted)


def test_no_rung_is_climbed_beyond_the_one_that_decides() -> None:
    judged, made = climbed("F" * 10, "P" * 10)
    assert judged.rung == 0 and len(made) == 10
    judged, made = climbed("PPPF", "PPPF")
    assert judged.rung == 1 and made == list("PPPPPP")


@example(["EExxFEEEEEPxxxEEEEEEEEEEEEEEEE", "EExxFEEEEEPxxxEEEEEEEEEEEEEEEE", "EEFEEEEEExxxEEEEEEEEEEEEEEEEEE"])
@given(st.lists(st.text("FPEx", min_size=30, max_size=30), min_size=1, max_size=3))
def test_a_defect_never_passed(attempts: list[str]) -> None:
    judged, made = climbed(*attempts)
    if judged.status == "confirmed":
        assert judged.failed == judged.counted == 10
    assert judged.failed <= judged.counted <= 10
    assert len(made) <= len(attempts) * (WHOLE + 2 * SPARE), (
        "spare ones for the first three, and again for the other seven"
    )


def made(name: str, tool: str, given: dict[str, Any], result: Any = None, **more: Any) -> CallRecord:
    error = more.pop("error", None)
    effect = more.pop("effect", "readonly")
    return CallRecord(
        id=name,
        actor=more.pop("actor", "agent"),
        server="depot",
        tool=tool,
        arguments=given,
        permission=Permission("allowed", effect),
        error=error,
        is_error=error is not None,
        structured=result if not isinstance(result, str) else None,
        has_structured=not isinstance(result, str) and error is None,
        text=result if isinstance(result, str) else "",
        **more,
    )


NOT_FOUND = CallError("tool_error", "not_found", "Order ORD-77 not found")
LIST = made("c1", "list_orders", {}, {"orders": [{"order_id": "ORD-12"}, {"order_id": "ORD-77"}]})
NOTE = made("c2", "add_note", {"text": "x"}, {"ok": True}, effect="additive")
OTHER = made("c3", "list_customers", {}, {"customers": []})
GET = made("c4", "get_order", {"order_id": "ORD-77"}, error=NOT_FOUND)
LEAD = Lead(
    kind="not_found of a vouched value",
    server="depot",
    tool="get_order",
    call="c4",
    evidence=("c1", "c4"),
    argument="/order_id",
    value="ORD-77",
)


def test_rungs_grow_from_the_provider_to_all_calls() -> None:
    found = rungs(LEAD, [LIST, NOTE, OTHER, GET])
    assert [(rung.name, [step.call.id for step in rung.steps]) for rung in found] == [
        ("call", ["c1", "c4"]),
        ("writes", ["c1", "c2", "c4"]),
        ("prefix", ["c1", "c2", "c3", "c4"]),
    ]
    assert [rung.writes for rung in found] == [False, True, True]
    assert [step.provider for step in found[0].steps] == [True, False]


def test_equal_rungs_are_climbed_once() -> None:
    assert [rung.name for rung in rungs(LEAD, [LIST, GET])] == ["call"]


def test_a_denied_call_is_never_made_again() -> None:
    denied = replace(NOTE, permission=Permission("denied", "additive"))
    assert all("c2" not in [s.call.id for s in rung.steps] for rung in rungs(LEAD, [LIST, denied, OTHER, GET]))


def test_values_are_bound_by_their_place() -> None:
    (bound,) = rungs(LEAD, [LIST, GET])[0].steps[-1].bound
    assert (bound.source, bound.place.steps) == ("c1", ("orders", 1, "order_id"))
    again = replace(LIST, structured={"orders": [{"order_id": "ORD-1"}, {"order_id": "ORD-2"}]})
    step = rungs(LEAD, [LIST, GET])[0].steps[-1]
    assert rebound(step, {("c1", bound.place): at(again, bound.place) or ""}) == {"order_id": "ORD-2"}


def test_an_id_that_the_provider_needs_is_read_again_too() -> None:
    login = made("c0", "login", {}, {"session_id": "s-83hd72kd9"}, effect="additive")
    listed = replace(LIST, arguments={"session": "s-83hd72kd9"})
    get = replace(GET, arguments={"order_id": "ORD-77", "session": "s-83hd72kd9"})
    first = rungs(LEAD, [login, listed, OTHER, get])[0]
    assert [step.call.id for step in first.steps] == ["c0", "c1", "c4"]
    assert {each.argument for each in first.steps[-1].bound} == {("order_id",), ("session",)}


def test_a_word_of_the_prompt_is_no_id() -> None:
    projects = made("c0", "list_kinds", {}, {"kinds": ["Legacy"]})
    listed = replace(LIST, arguments={"kind": "Legacy"})
    assert [step.call.id for step in rungs(LEAD, [projects, listed, GET])[0].steps] == ["c1", "c4"]


@pytest.mark.parametrize(
    ("disturbed", "word"),
    [
        (replace(OTHER, error=CallError("injected", "timeout", "", cause="fault")), "fault"),
        (replace(OTHER, error=CallError("transport_error", "closed", "", cause="fault_after_effect")), "fault"),
        (replace(OTHER, permission=Permission("simulated")), "simulated"),
    ],
)
def test_no_replay_of_a_disturbed_session(disturbed: CallRecord, word: str) -> None:
    assert word in (refusal(LEAD, [LIST, disturbed, GET]) or "")
    assert refusal(LEAD, [LIST, replace(disturbed, session=2), GET]) is None
    assert refusal(LEAD, [LIST, GET, disturbed]) is None
    assert refusal(LEAD, [LIST, replace(LIST, permission=Permission("simulated"), distractor=True), GET]) is None


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        (replace(GET, error=replace(NOT_FOUND, message="no order ORD-1")), "fails"),
        (made("c4", "get_order", {}, {"order_id": "ORD-77"}), "passes"),
        (replace(GET, error=CallError("tool_error", "rate", "429")), "invalid"),
        (replace(GET, error=CallError("protocol_error", "not_found", "no")), "invalid"),
        (replace(GET, error=CallError("transport_error", "resource_limit", "the limit of 4 GiB of memory")), "limit"),
    ],
)
def test_only_the_same_kind_of_error_counts(now: CallRecord, outcome: str) -> None:
    found = _compared(GET, now)
    assert found.outcome == outcome
    assert outcome != "limit" or "4 GiB" in found.reason


@pytest.mark.parametrize(
    ("result", "place"),
    [
        ({"a": [{"b": "ORD-77"}]}, Place(("a", 0, "b"))),
        ('{"a": "ORD-77"}', Place(("a",))),
        ({"inner": '["ORD-1", "ORD-77"]', "more": 1}, Place(("inner", None, 1))),
        ("orders:\nORD-77\n", Place((), 1)),
        ("- ORD-12: open\n- ORD-77, archived\n", Place((), 1, 1)),
        ({"n": 77}, None),
    ],
)
def test_places(result: Any, place: Place | None) -> None:
    call = made("c1", "list", {}, result)
    assert places(call, {"ORD-77"}) == ({} if place is None else {"ORD-77": [place]})
    assert holds(call, "ORD-77") is (place is not None)
    if place is not None:
        assert at(call, place) == "ORD-77"
        assert at(made("c1", "list", {}, {"other": 1}), place) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("orders:\nORD-77\n", "ORD-77"),
        ("- ORD-12: open\n-  (ORD-77), archived\n", "ORD-77"),
        ("ORD-77 is gone", "ORD-77"),
        ("a\r\n  ORD-77 \r\nb", "ORD-77"),
    ],
)
def test_a_place_in_prose_is_a_regex_of_the_language(text: str, form: str) -> None:
    (place,) = places(made("c1", "list", {}, text), {form})[form]
    found = regex.capture(expression(place)[1:-1], "", text)
    assert found == form


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (("a", 0, "b"), "$.a[0].b"),
        ((), "$"),
        (("odd name", 1), '$["odd name"][1]'),
        (("a", None, 1, "b"), "json($.a)[1].b"),
        (("a", None, "b", None, "c"), "json(json($.a).b).c"),
    ],
)
def test_a_place_is_an_expression(steps: tuple[str | int | None, ...], said: str) -> None:
    assert expression(Place(steps)) == said


@pytest.mark.parametrize("place", [Place((None, 0)), Place(("a",), 0)])
def test_a_place_that_cannot_be_written(place: Place) -> None:
    with pytest.raises(Unwritable):
        expression(place)


JSON = st.recursive(
    st.integers() | st.text("abc-1", max_size=4) | st.none() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON)
def test_what_is_found_somewhere_is_read_from_there(value: Any) -> None:
    call = made("c1", "list", {}, {"a": value, "b": 1})
    wanted = {"1", "a", "-1", "0", "ab"}
    for form, found in places(call, wanted).items():
        assert all(at(call, place) == form for place in found)
