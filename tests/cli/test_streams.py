"""What a terminal would obey is written as JSON would escape it; all else passes."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl import cli, report
from mcpeval_dsl.cli.streams import shown, shown_output

TURNED = "a\u202eb\x9b2J\u2066c\x7f\u2028d\U000e0041"


@given(st.text())
def test_json_is_the_same_value(text: str) -> None:
    written = shown(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text


@pytest.mark.parametrize(
    "text", ["plain", "größer 😀 日本", "\x1b[31mred\x1b[0m", "50 %\r\x1b[K", "tab\tand\nline", "\u200dé"]
)
def test_what_is_nobodys_trick_passes(text: str) -> None:
    assert shown(text) == text


def test_both_streams_are_guarded_and_given_back() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        with shown_output():
            print(TURNED)
            print(TURNED, file=sys.stderr)
            assert not sys.stdout.isatty()
        assert sys.stdout is out and sys.stderr is err
    assert out.getvalue() == err.getvalue() == "a\\u202eb\\u009b2J\\u2066c\\u007f\\u2028d\\udb40\\udc41\n"


FILTERS = {"fmt.py"}  # what it gives back is the file it was given, not a message: to the byte, or texts would change


def test_no_command_writes_past_them() -> None:
    rooms = [Path(cli.__file__).parent, Path(report.__file__).parent]
    past = [
        path
        for room in rooms
        for path in room.rglob("*.py")
        if path.name not in FILTERS and re.search(r"std(out|err)\.buffer", path.read_text("utf-8"))
    ]
    assert past == []
