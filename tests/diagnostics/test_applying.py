"""Fixes on texts: whole or not at all, the first of two that touch, in any order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.diagnostics.applying import apply
from mcpeval_dsl.diagnostics.model import Edit, Fix
from mcpeval_dsl.source import Location, SourceFile, Span

FILE = SourceFile("a.mcpe", "one two\nthree 𝒳 four\n")


def fix(*edits: tuple[int, int, str], file: SourceFile = FILE) -> Fix:
    return Fix("f", tuple(Edit(Span(file, start, end).location(), text) for start, end, text in edits))


def text(*fixes: Fix) -> str:
    return apply({"a.mcpe": FILE}, fixes).texts.get("a.mcpe", FILE.text)


def test_edits_of_one_line_and_of_several() -> None:
    assert text(fix((0, 3, "ONE"))) == "ONE two\nthree 𝒳 four\n"
    assert text(fix((4, 13, "THREE"))) == "one THREE 𝒳 four\n"
    assert text(fix((16, 20, "4"), (0, 0, "# "))) == "# one two\nthree 𝒳 4\n"


def test_the_first_of_two_that_touch_is_made() -> None:
    applied = apply({"a.mcpe": FILE}, [fix((0, 3, "1")), fix((2, 5, "x")), fix((0, 0, "y")), fix((3, 3, "!"))])
    assert applied.texts == {"a.mcpe": "1! two\nthree 𝒳 four\n"}
    assert len(applied.made) == 2


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    both = fix((0, 3, "1"), (4, 7, "2"))
    assert text(fix((5, 6, "W")), both) == "one tWo\nthree 𝒳 four\n"
    assert text(both, fix((5, 6, "W"))) == "1 2\nthree 𝒳 four\n"


def test_equal_fixes_count_once() -> None:
    assert text(fix((0, 3, "1")), fix((0, 3, "1"))) == "1 two\nthree 𝒳 four\n"
    assert len(apply({"a.mcpe": FILE}, [fix((7, 7, "!")), fix((7, 7, "!"))]).made) == 1


def test_places_that_are_gone_and_other_files_are_left_out() -> None:
    gone = Fix("f", (Edit(Location("a.mcpe", 9, 1, 9, 2), ""),))
    other = Fix("f", (Edit(Location("b.mcpe", 1, 1, 1, 2), ""),))
    backwards = Fix("f", (Edit(Location("a.mcpe", 1, 5, 1, 2), "x"),))
    assert apply({"a.mcpe": FILE}, [gone, other, backwards]).texts == {}


def test_a_fix_that_changes_nothing_is_no_change() -> None:
    assert apply({"a.mcpe": FILE}, [fix((0, 3, "one"))]).texts == {}


def test_line_ends_are_those_of_the_file() -> None:
    file = SourceFile("a.mcpe", "one\r\ntwo\r\n")
    edit = Fix("f", (Edit(Location("a.mcpe", 2, 1, 2, 1), "new\n"),))
    assert apply({"a.mcpe": file}, [edit]).texts == {"a.mcpe": "one\r\nnew\r\ntwo\r\n"}


@given(
    st.text(alphabet="ab\n𝒳", max_size=30),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from(["", "X", "Y\n"])), max_size=12),
)
def test_edits_that_do_not_touch_are_all_made_and_the_rest_stays(
    before: str, edits: list[tuple[int, int, str]]
) -> None:
    file = SourceFile("a.mcpe", before)
    places = [(min(a, b, len(before)), min(max(a, b), len(before)), new) for a, b, new in edits]
    applied = apply({"a.mcpe": file}, [fix(place, file=file) for place in places])
    after = applied.texts.get("a.mcpe", before)
    made = [edit for each in applied.made for edit in each.edits]
    grown = sum(len(edit.text) for edit in made) - sum(_length(file, edit.at) for edit in made)
    assert len(after) == len(before) + grown


def _length(file: SourceFile, at: Location) -> int:
    starts = file.lines.starts
    return starts[at.end_line - 1] + at.end_column - starts[at.line - 1] - at.column
