"""Codes 200–249: the bad example of each gives that error and no other, the good one none."""

from __future__ import annotations

import pytest

from mcpeval_dsl.diagnostics.registry import CodeInfo, all_codes
from mcpeval_dsl.semantics import shape
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse

OWN = [info for info in all_codes() if "MCPE200" <= info.code < "MCPE250"]


def _codes(text: str) -> list[str]:
    parsed = parse(SourceFile("example.mcpe", text))
    assert parsed.value is not None
    return [d.code for d in (*parsed.diagnostics, *shape.check(parsed.value))]


@pytest.mark.parametrize("info", OWN, ids=lambda info: info.code)
def test_examples(info: CodeInfo) -> None:
    assert _codes(info.bad) == [info.code]
    assert _codes(info.good) == []


def test_a_sentence_is_not_told_to_lose_its_quotes() -> None:
    parsed = parse(SourceFile("a.mcpe", 'task a { prompt "x"; grade judge "Is it right?"; kind "safety" }\n'))
    assert parsed.value is not None
    hints = [found.hint for found in shape.check(parsed.value) if found.code == "MCPE206"]
    assert hints == ["Leave the text out: a bare word has no blanks.", "Write `safety` without quotes."]
