"""Leads one by one, roles, forms, and results that no server should send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.gateway.model import CallError, CallRecord
from mcpeval_dsl.provenance.examine import leads
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.leads import harvest_leads
from mcpeval_dsl.provenance.roles import relation, role_of_argument, role_of_field
from mcpeval_dsl.records.model import Lead
from tests.records.samples import call, trial


def not_found(id_: str, text: str, **changes: Any) -> CallRecord:
    error = CallError("tool_error", "not_found", text)
    return call(id_, error=error, is_error=True, text=text, at_ms=10.0, schema_valid=True, **changes)


def test_a_listed_value_that_is_not_found_names_both_calls() -> None:
    listed = call("c1", "list_issues", arguments={}, structured={"issues": [{"key": "A-1"}]}, has_structured=True)
    (lead,) = leads(trial(calls=(listed, not_found("c2", "Not found: A-1"))))
    assert lead == Lead(
        kind="not_found of a vouched value",
        server="tracker",
        tool="get_issue",
        call="c2",
        evidence=("c1", "c2"),
        argument="/key",
        value="A-1",
        message="Not found: A-1",
    )


@pytest.mark.parametrize(("fault", "leads_found"), [("disconnect", 0), ("timeout", 1), ("", 1)])
def test_what_went_with_a_session_that_a_fault_cut_is_nobodys_defect(fault: str, leads_found: int) -> None:
    listed = call("c1", "list_issues", arguments={}, structured={"issues": [{"key": "A-1"}]}, has_structured=True)
    error = CallError("injected", "closed", "gone", cause="fault") if fault else None
    between = call("c2", "list_issues", arguments={}, fault=fault, error=error)
    asked = not_found("c3", "Not found: A-1", session=2)
    assert len(leads(trial(calls=(listed, between, asked)))) == leads_found


def test_a_harvest_vouches_too() -> None:
    read = call("h1", "list_issues", actor="harvest", arguments={}, text='[{"key": "A-1"}]')
    record = trial(calls=(not_found("c1", "Not found: A-1"),))
    assert [lead.evidence for lead in leads(record, (read,))] == [("h1", "c1")]
    assert leads(record) == ()


KEY = 'Größe "XL" <b>/\\\x07\u2028 7'
ENCODED = {
    "all that can be escaped": {"text": json.dumps([{"key": KEY}])},
    "what must be escaped": {"text": json.dumps([{"key": KEY}], ensure_ascii=False)},
    "markup too": {"text": json.dumps([{"key": KEY}], ensure_ascii=False).replace("<", "\\u003c")},
    "slashes too": {"text": json.dumps([{"key": KEY}], ensure_ascii=False).replace("/", "\\/")},
    "capital digits": {"text": json.dumps([{"key": KEY}]).replace("\\u00f6", "\\u00F6")},
    "structured": {"structured": [{"key": KEY}], "has_structured": True},
}


@pytest.mark.parametrize("encoded", ENCODED.values(), ids=ENCODED)
def test_a_value_is_the_servers_however_its_encoder_escapes(encoded: dict[str, Any]) -> None:
    listed = call("c1", "list_issues", arguments={}, **encoded)
    asked = not_found("c2", f"Not found: {KEY}", arguments={"key": KEY})
    assert [lead.evidence for lead in leads(trial(calls=(listed, asked)))] == [("c1", "c2")]
    other = not_found("c2", f"Not found: {KEY}8", arguments={"key": f"{KEY}8"})
    assert leads(trial(calls=(listed, other))) == ()


def test_an_invented_value_is_the_agents_error() -> None:
    listed = call("c1", "list_issues", arguments={}, structured={"issues": [{"key": "A-1"}]}, has_structured=True)
    asked = not_found("c2", "Not found: A-2", arguments={"key": "A-2"})
    assert leads(trial(calls=(listed, asked))) == ()


@pytest.mark.parametrize(
    ("argument", "field", "right"),
    [
        (("get_issue", "key"), ("list_issues", "issues", "key"), "match"),
        (("get_issue", "issue_id"), ("list_issues", "issues", "id"), "match"),
        (("get_branch", "branch"), ("list_branches", "branches", "name"), "match"),
        (("get_issue", "issueId"), ("x", "issue", "id"), "match"),
        (("get_issue", "issue_id"), ("list_users", "users", "id"), "conflict"),
        (("get_issue", "number"), ("list_issues", "issues", "id"), "conflict"),
        (("get_issue", "key"), ("list_issues", "issues", "title"), "conflict"),
        (("read_file", "path"), ("search", "results", "path"), "unclear"),
    ],
)
def test_role(argument: tuple[str, ...], field: tuple[str, ...], right: str) -> None:
    assert relation(role_of_argument(argument[0], argument[1:]), role_of_field(field[0], field[1:])) == right


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (90211, "90211", True),
        (90211.0, 90211, True),
        ("007", 7, False),
        (2**53 + 1, 2**53, False),
        (True, 1, False),
        ("A-1", "a-1", False),
        (None, None, False),
        ("[REDACTED]", "[REDACTED]", False),
    ],
)
def test_exact_form(one: Any, other: Any, same: bool) -> None:
    assert (exact(one) is not None and exact(one) == exact(other)) == same


def test_information_grows_with_length() -> None:
    assert bits("7") < bits("4821") < 24 < bits("9f8b2c41d0aa7e55")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)


@given(json_values, st.dictionaries(st.text(min_size=1, max_size=8), json_values, max_size=3), st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_nothing_a_server_sends_breaks_it(result: Any, arguments: dict[str, Any], text: str) -> None:
    listed = call("c1", "list_things", arguments={}, structured=result, has_structured=True)
    plain = call("c2", "show_things", arguments={}, text=text)
    leads(trial(calls=(listed, plain, not_found("c3", text, arguments=arguments))))


def test_a_harvest_that_kills_the_server_is_a_lead_too() -> None:
    crash = call("h1", actor="harvest", error=CallError("transport_error", "crash", "exit 1"))
    empty = call("h2", actor="harvest", error=CallError("tool_error", "not_found", "nothing"))
    assert [(lead.kind, lead.call) for lead in harvest_leads((crash, empty))] == [("crash", "h1")]
