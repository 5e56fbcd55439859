"""What holds of every spec that is formatted: words, comments and meaning stay, and once is enough. `fuzz` does more of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcpeval_dsl.syntax.formatting import format_text
from mcpeval_dsl.syntax.formatting.lines import WIDTH
from tests.syntax.formatting.drawn import drawn
from tests.syntax.formatting.same import assert_formats, is_spec
from tests.syntax.formatting.shaken import shaken
from tests.syntax.sentences import sentences
from tests.syntax.test_properties import TEXTS

ROOT = Path(__file__).parents[3]
SPECS = sorted([*(ROOT / "specs").glob("*/*.mcpe"), *(ROOT / "tests/cases/examples").rglob("*.mcpe")])


@pytest.mark.parametrize("batch", range(4))
def test_specs_of_the_grammar(batch: int) -> None:
    """Seeds on which a line break, a comma or a comment once changed what a word was are among the first."""
    texts = [text for number in range(150) if is_spec(text := drawn(f"{batch}/{number}"))]
    assert len(texts) > 60
    for text in texts:
        assert_formats(text)


@given(sentences())
def test_short_specs_of_the_grammar(text: str) -> None:
    assume(is_spec(text))
    assert_formats(text)


@given(TEXTS)
def test_any_text_is_formatted_or_refused_with_an_error(text: str) -> None:
    checked = format_text(text)
    if is_spec(text):
        assert_formats(text)
    else:
        assert checked.value is None and not checked.ok and checked.diagnostics


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_specs_that_people_wrote(path: Path) -> None:
    text = path.read_text("utf-8")
    formatted = assert_formats(text)
    assert assert_formats(text.replace("\n", "\r\n")) == formatted.replace("\n", "\r\n")


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_specs_written_without_care(path: Path) -> None:
    for seed in range(3):
        text = shaken(path.read_text("utf-8"), f"{path.stem}/{seed}")
        assert is_spec(text)
        for line in assert_formats(text).splitlines():
            assert "\t" not in line and line == line.rstrip()


@given(st.integers(0, 10_000))
def test_what_can_be_broken_is_no_wider_than_the_page(number: int) -> None:
    words = [f"tool_{number}_{n}" for n in range(60)]
    for text in (
        f"task t {{ may {', '.join(words)} }}",
        f"let x = [{', '.join(words)}]",
        f"f(a: {{b: [{', '.join(words)}]}})",
    ):
        assert max(map(len, assert_formats(text).splitlines())) <= WIDTH
