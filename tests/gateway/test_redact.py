"""Secrets are found in every usual form and told by place only."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.gateway.redact import Redactor

SECRET = 's3cr3t/value+with "marks"'
PRINTABLE = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), max_size=20)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"user:{SECRET}".encode()).decode(),
    ],
)
def test_a_secret_is_replaced_in_every_form(form: str) -> None:
    clean, found = Redactor({"API_KEY": SECRET}).text(f"before {form} after")
    assert form not in clean
    assert "[redacted: API_KEY]" in clean
    assert set(found) == {"API_KEY"}


@given(PRINTABLE, PRINTABLE)
def test_a_secret_inside_base64_is_found_at_any_alignment(before: str, after: str) -> None:
    secret = "correct horse battery"
    encoded = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
    assert Redactor({"K": secret}).names_in({"header": f"Basic {encoded}"}) == ("K",)


@given(
    st.recursive(
        st.none() | st.integers() | PRINTABLE, lambda inner: st.lists(inner) | st.dictionaries(PRINTABLE, inner)
    )
)
def test_values_without_secrets_stay_as_they_are(value: Any) -> None:
    assert Redactor({"K": "correct horse battery"}, shapes=False).value(value) == (value, ())


def test_places_are_told_and_never_values() -> None:
    value = {"arguments": {"token": f"x{SECRET}", "list": ["a", SECRET]}, SECRET: 1}
    clean, places = Redactor({"API_KEY": SECRET}).value(value, "call c1")
    assert SECRET not in json.dumps(clean)
    assert places == (
        "call c1/arguments/token (API_KEY)",
        "call c1/arguments/list/1 (API_KEY)",
        "call c1/(a key) (API_KEY)",
    )


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-" + "a1B2" * 6,
        "ghp_" + "a1B2" * 9,
        "AKIA" + "A1B2" * 4,
        "glpat-" + "a1B2" * 5,
        "xoxb-123456789012-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "postgres://user:hunter22@db.internal/x",
    ],
)
def test_shapes_of_credentials_are_replaced(text: str) -> None:
    clean, found = Redactor().text(f"see {text} there")
    assert text not in clean
    assert found


@pytest.mark.parametrize(
    "text", ["task-1234567890", "https://example.org:8080/a@b", "sk-short", "eyJ is a prefix", "12:30@home"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == (text, ())


def test_a_very_short_secret_is_not_hunted() -> None:
    assert Redactor({"PIN": "12"}).text("12 of 12") == ("12 of 12", ())


def test_a_lone_surrogate_is_no_trouble() -> None:
    assert Redactor({"K": "open sesame"}).text("\ud800 open sesame") == ("\ufffd [redacted: K]", ("K",))
    assert Redactor({"K": "open sesame"}).names_in(["\ud800 open sesame"]) == ("K",)


def test_what_is_secret_in_a_secret_url_is_so_by_itself() -> None:
    redactor = Redactor(
        {"DSN": "postgres://desk:Xq9ZrT77@db.example/loans?mode=readonly&api_key=cobalt-7713"}, shapes=False
    )
    assert redactor.text("user Xq9ZrT77 of db.example")[0] == "user [redacted: DSN] of db.example"
    assert redactor.text("?api_key=cobalt-7713") == ("?api_key=[redacted: DSN]", ("DSN",))
    assert redactor.text("mode readonly, desk, loans") == ("mode readonly, desk, loans", ())
