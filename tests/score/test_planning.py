"""Variances to plan with: what the run's own trials say, and what has to be assumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcpeval_dsl.score.gather import gather
from mcpeval_dsl.score.planning import ASSUMED, CORRELATION, of_cells, of_tasks
from mcpeval_dsl.score.rates import ByTask
from tests.score.samples import plan, run


def tasks(passed: list[int], trials: int = 10) -> ByTask:
    count = len(passed)
    return ByTask(np.arange(count), np.full(count, trials), np.array(passed, dtype=float), np.arange(count))


def test_one_cell_measures_its_tasks_and_assumes_the_correlation() -> None:
    found = of_tasks(tasks([0, 5, 10, 5]))
    assert found is not None
    within = np.mean([0, 0.25, 0, 0.25]) * 10 / 9
    spread = np.var([0, 0.5, 1, 0.5], ddof=1) - within / 10
    assert found.between == pytest.approx(2 * (1 - CORRELATION) * spread)
    assert found.within == pytest.approx(within)
    assert found.correlation == CORRELATION
    assert "correlation of two versions 0.50 assumed" in found.source and "within: measured" in found.source


def test_other_cells_measure_how_much_differences_vary() -> None:
    one, same, other = tasks([0, 5, 10, 5]), tasks([1, 6, 9, 4]), tasks([10, 5, 0, 5])
    alike, unlike = of_tasks(one, [same]), of_tasks(one, [other])
    assert alike is not None and unlike is not None
    assert alike.between == 0.0 and alike.correlation == pytest.approx(1.0, abs=0.2)
    assert unlike.correlation == pytest.approx(-1.0, abs=0.01)
    assert unlike.between == pytest.approx(
        np.var([-1, 0, 1, 0], ddof=1) - 2 * np.mean([0, 0.25, 0, 0.25]) * 10 / 9 / 10
    )
    assert "measured between cells of this run" in alike.source


def test_a_run_whose_trials_all_end_alike_says_nothing() -> None:
    found = of_tasks(tasks([10, 10, 10]))
    assert found is not None
    assert (found.between, found.within) == (ASSUMED.between, ASSUMED.within)
    assert (found.tasks, found.trials) == (3, 10) and "every trial of this run ended alike" in found.source


def test_without_repeats_the_noise_stands_in_the_other_variance() -> None:
    found = of_tasks(tasks([0, 1, 1, 0], trials=1))
    assert found is not None and found.within == 0.0
    assert "there are no repeats" in found.source


def test_a_trial_that_could_not_be_tested_is_no_plan() -> None:
    seen = tasks([2, 4, 0, 3], trials=4)
    found = of_tasks(replace(seen, trials=np.array([3, 4, 4, 4])))
    assert found is not None and found.trials == 4


def test_one_task_has_no_variance() -> None:
    assert of_tasks(tasks([5])) is None


def test_equal_cells_stand_together() -> None:
    made = plan(cells=("a", "b", "c"))
    said = {f"{task}@{cell}": letters for cell in "ab" for task, letters in (("one", "yyy"), ("two", "nyn"))}
    frame = gather(made, run(made, said | {"one@c": "nnn", "two@c": "nyy"})).frame
    assert [cells for cells, _ in of_cells(frame)] == [("a", "b"), ("c",)]
