"""Hosts as they are written in `network`, and what each admits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.semantics.hosts import HostRule, rule_of, rules_of

WRITTEN = {
    "api.example.org": HostRule("api.example.org"),
    "API.Example.ORG.": HostRule("api.example.org"),
    "*.example.org:443": HostRule("*.example.org", 443),
    "localhost:5432": HostRule("localhost", 5432),
    "10.0.0.5:8080": HostRule("10.0.0.5", 8080),
    "[::1]:80": HostRule("::1", 80),
    "[0:0::1]": HostRule("::1"),
    "db": HostRule("db"),
    "my_host.internal": HostRule("my_host.internal"),
}
WRONG = (
    *("", "*", "*.", ".example.org", "https://example.org", "example.org/v1", "a b", "example.org:", "example.org:0"),
    *(
        "example.org:65536",
        "a.*.org",
        "**.org",
        "::1",
        "::1:80",
        "[example.org]",
        "[::1",
        "10.0.0.256",
        "1.2.3",
        "-a.org",
    ),
    *("user@example.org", "example..org", "ex*mple.org", "a:80:90"),
)


@pytest.mark.parametrize("text", WRITTEN)
def test_it_is_read(text: str) -> None:
    assert rule_of(text) == WRITTEN[text]


@pytest.mark.parametrize("text", WRONG)
def test_it_is_no_host(text: str) -> None:
    assert rule_of(text) is None


@pytest.mark.parametrize(
    ("rule", "host", "port", "admitted"),
    [
        ("api.example.org", "api.example.org", 443, True),
        ("api.example.org", "API.example.org.", 80, True),
        ("api.example.org", "api.example.org", 22, False),
        ("api.example.org:22", "api.example.org", 443, False),
        ("api.example.org", "evil-api.example.org", 443, False),
        ("api.example.org", "api.example.org.evil.net", 443, False),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "evilexample.org", 443, False),
        ("[::1]:80", "[::1]", 80, True),
        ("10.0.0.5:80", "10.0.0.50", 80, False),
    ],
)
def test_it_admits(rule: str, host: str, port: int, admitted: bool) -> None:
    found = rule_of(rule)
    assert found is not None and found.admits(host, port) is admitted


@pytest.mark.parametrize("text", ["localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "db.localhost:1"])
def test_this_machine_is_known(text: str) -> None:
    found = rule_of(text)
    assert found is not None and found.loopback and not found.named


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    found = rule_of(text)
    assert found is None or (found.name == found.name.lower() and rules_of([text]) == (found,))
