"""Looks at held-out tasks: each run once, in the order in which they were first shown, apart for each suite."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcpeval_dsl.records.looks import FILE, looked


def test_each_run_is_one_look(tmp_path: Path) -> None:
    assert [looked(tmp_path, "tracker", run) for run in ("r1", "r2", "r1", "r3", "r2")] == [1, 2, 1, 3, 2]


def test_suites_are_counted_apart(tmp_path: Path) -> None:
    assert [looked(tmp_path, suite, "r1") for suite in ("a", "b", "a")] == [1, 1, 1]


def test_a_damaged_line_is_no_look(tmp_path: Path) -> None:
    looked(tmp_path, "a", "r1")
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('{"suite": "a", "run":\n["a"]\n')
    assert looked(tmp_path, "a", "r2") == 2


def test_runs_that_end_at_the_same_time_have_numbers_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda number: looked(tmp_path, "a", f"r{number}"), range(40)))
    assert sorted(numbers) == list(range(1, 41))
