"""The matrix and the comparisons in the text: every cell named, every line within the page, words beside numbers."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.render.safe import width
from mcpeval_dsl.report.page import Page
from mcpeval_dsl.report.text import render
from mcpeval_dsl.report.text_matrix import comparisons, matrix
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import TimeOverhead
from tests.report.test_forms import card

LONG = "a_model_with_a_long_name+a_host_with_one_too+mcp"


def renamed(name: str) -> model.Scorecard:
    first = card().cells[0].cell
    entries = tuple(e.model_copy(update={"cell": name}) if e.cell == first else e for e in card().matrix)
    return card().model_copy(update={"matrix": entries})


def test_every_cell_of_the_matrix_is_named_in_full() -> None:
    lines = matrix(Page("r"), card())
    heads = " ".join(line for line in lines if line.startswith("  group"))
    assert all(cell.cell in heads.split() for cell in card().cells)
    shares = {f"{entry.success.value * 100:.1f}" for entry in card().matrix if entry.success is not None}
    assert shares <= {word for line in lines for word in line.split()}


def test_long_names_of_cells_leave_the_page_its_width() -> None:
    lines = matrix(Page("r"), renamed(LONG))
    assert LONG in " ".join(lines)
    assert max(width(line) for line in lines) <= 100


def test_a_lift_says_the_difference_its_interval_and_the_word() -> None:
    lines = comparisons(Page("r"), card())
    (row, *_) = (row for row in card().comparisons[0].rows if not row.group)
    assert row.difference is not None and row.difference.low is not None
    line = next(line for line in lines if line.strip().startswith(row.agent))
    assert f"{row.difference.value * 100:+.1f}" in line and line.endswith(row.difference.word)
    assert any("overhead of medians: cost +$" in line for line in lines)
    assert any("a server called in 100.0 % of" in line for line in lines)


def test_one_group_alone_is_no_matrix() -> None:
    alone = card().model_copy(update={"matrix": tuple(e for e in card().matrix if not e.group)})
    assert matrix(Page("r"), alone) == [] and "MATRIX" not in render(alone, "r")


def test_without_a_comparison_nothing_is_said_of_one() -> None:
    assert "LIFT" not in render(card().model_copy(update={"comparisons": ()}), "r")


def test_what_rounds_to_nothing_has_no_sign() -> None:
    (first, *_) = card().comparisons[0].rows
    for value, shown in ((-0.3, "time ±0 ms"), (-3.0, "time −3 ms"), (0.6, "time +1 ms")):
        time = TimeOverhead(first.treatment_cell, first.baseline_cell, first.split, first.group, value, None, None, 9)
        assert any(shown in line for line in comparisons(Page("r"), card(), [time]))
