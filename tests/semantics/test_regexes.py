"""Patterns that are taken without asking the library are patterns the library takes."""

from __future__ import annotations

import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.semantics.lower.regexes import _SURELY_FINE

MARKS = r"a b \d \w \s \b \. \- \/ [ ] ( ) { } + * ? | ^ $ . - a-z 0-9 [^ \1 (?= (?: (?i) é 1 , {2} \x"
PIECES = st.sampled_from([" ", *MARKS.split(" ")])


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_subset_of_what_the_library_takes(pattern: str) -> None:
    if _SURELY_FINE.fullmatch(pattern):
        re2.compile(pattern)


def test_common_patterns_need_no_library() -> None:
    common = [r"^BILL-\d+$", r"^Commit: '?([0-9a-f]{40})", r"(no|not).*warehouse", r"Total:\s*([\d.,]+)", r"\bhotfix\b"]
    assert [bool(_SURELY_FINE.fullmatch(p)) for p in common] == [True, False, True, True, True]
