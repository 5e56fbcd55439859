"""Bytes that are no spec give one clear diagnostic."""

from __future__ import annotations

import pytest

from mcpeval_dsl import syntax

BAD = {
    "zero byte": (b"task a {\x00}", "MCPE100", "x.mcpe:1:1"),
    "utf-16": ("task".encode("utf-16"), "MCPE100", "x.mcpe:1:1"),
    "latin-1": ('# one\nlet a = "\u00e9"'.encode("latin-1"), "MCPE101", "x.mcpe:2:10"),
    "cut utf-8": ('let a = "\u00e9"'.encode()[:-2], "MCPE101", "x.mcpe:1:10"),
    "ten megabytes": (b"# " + b"x" * 10_000_000, "MCPE102", "x.mcpe:1:1"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name: str) -> None:
    data, code, place = BAD[name]
    checked = syntax.decode("x.mcpe", data)
    assert checked.value is None
    assert [(d.code, str(d.at)) for d in checked.diagnostics] == [(code, place)]


@pytest.mark.parametrize("data", [b"", b"# only a comment\n", b"\n\n  \n", b"\xef\xbb\xbf"])
def test_empty_specs_are_said_to_be_empty(data: bytes) -> None:
    file = syntax.decode("x.mcpe", data).value
    assert file is not None
    checked = syntax.parse(file)
    assert [d.code for d in checked.diagnostics] == ["MCPE103"]
    assert checked.value is not None and checked.value.statements == ()


def test_a_byte_order_mark_is_dropped() -> None:
    file = syntax.decode("x.mcpe", b"\xef\xbb\xbflet a = 1\n").value
    assert file is not None and file.text == "let a = 1\n"
