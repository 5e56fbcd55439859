"""What an editor is told to change: little, in order, by range, and each replacement right by itself."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from mcpeval_dsl.syntax.formatting import Replacement, format_edits, format_text
from mcpeval_dsl.syntax.one_line import one_line
from tests.syntax.formatting.same import applied, assert_formats, comments, is_spec, words
from tests.syntax.formatting.shaken import shaken

ROOT = Path(__file__).parents[3]
TRACKER = (ROOT / "specs/tracker/tracker.mcpe").read_text("utf-8")
ROUGH = "task t {\n  tags a\n  prompt 'p'\n}\n".replace("'", '"')


def edits(text: str, within: tuple[int, int] | None = None) -> tuple[Replacement, ...]:
    found = format_edits(text, within=within).value
    assert found is not None
    return found


def test_only_blanks_are_replaced() -> None:
    assert edits(ROUGH) == (Replacement(16, 16, "  "),)


def test_what_is_in_form_has_no_edits() -> None:
    assert edits(TRACKER) == ()


def test_errors_are_given_instead_of_edits() -> None:
    checked = format_edits("a {", "specs/a.mcpe")
    assert checked.value is None and [d.code for d in checked.diagnostics] == ["MCPE121"]


def test_edits_are_in_order_and_apart() -> None:
    found = edits(shaken(TRACKER, "order"))
    assert len(found) > 50
    assert all(first.end <= second.start for first, second in pairwise(found))


def test_a_range_gets_its_own_edits_only() -> None:
    text = "a   b\nc   d\ne   f\n"
    assert applied(text, edits(text, (6, 11))) == "a   b\nc d\ne   f\n"


@pytest.mark.parametrize("seed", range(4))
def test_each_edit_alone_keeps_the_words(seed: int) -> None:
    text = shaken(TRACKER, str(seed))
    for edit in edits(text)[seed::9]:
        once = applied(text, (edit,))
        assert is_spec(once) and words(once) == words(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('grade   contains a , "b  c"{ignore case;as date}', 'grade contains a, "b  c" { ignore case; as date }'),
        ("grade state f(x: 1, # why\n  )\n  == {}", "grade state f(x: 1) == {}"),
        ("grade any {\n  contains a # x\n\n  contains b\n}", "grade any { contains a; contains b }"),
        ("require a not\tin [ 1,\n 2, ]", "require a not in [1, 2]"),
        ('grade exact """\n    x\n    """', 'grade exact """ x """'),
        ("grade json {\n  a: 1, b: {c: [2]}\n}", "grade json {a: 1, b: {c: [2]}}"),
    ],
)
def test_a_statement_on_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_one_line_is_the_same_however_it_was_laid_out() -> None:
    for seed in range(5):
        text = shaken(TRACKER, f"line/{seed}")
        assert one_line(text) == one_line(TRACKER)
    assert format_text(one_line("grade  json $.a==1{numbers within 1%}")).value == assert_formats(
        "grade  json $.a==1{numbers within 1%}"
    )


MOVING = (
    "f(x == 1 # why\n  ,\n  y == 2)\n" + 'task t { prompt "' + "long " * 30 + '" } # mcpe: ignore[MCPE370] because\n'
)


def test_a_comment_that_moves_is_in_one_replacement() -> None:
    """With a range that ends in its way, it is neither lost nor doubled."""
    for begin in range(0, len(MOVING), 3):
        for end in range(begin, len(MOVING), 17):
            half = applied(MOVING, edits(MOVING, (begin, end)))
            assert comments(half) == comments(MOVING) and words(half) == words(MOVING)


def test_a_finding_stays_ignored() -> None:
    from mcpeval_dsl.source import SourceFile
    from mcpeval_dsl.syntax import parse, suppressions

    for text in (MOVING, assert_formats(MOVING)):
        tree = parse(SourceFile("spec.mcpe", text)).value
        assert tree is not None
        (found,) = suppressions.comments(tree).found
        assert found.first <= tree.statements[-1].span.location().line <= found.last
