"""The conversations of `specs/talks`: what each task is there to show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    bench = Bench(tmp_path_factory.mktemp("talks") / "project")
    left_out = shutil.ignore_patterns("__pycache__", "tracker.mcpe")
    for name in ("talks", "tracker"):
        shutil.copytree(SPECS / name, bench.root / "specs" / name, ignore=left_out)
    path = bench.root / "specs/talks/talks.mcpe"
    path.write_text(path.read_text("utf-8").replace("trials 3", "trials 1"), "utf-8")
    bench.write("mcpe.toml", 'specs = ["specs"]\n')
    done = bench.run()
    assert done.code == 0, done.err + done.out
    return {record.id: record for record in bench.reader.records()}


EXPECTED = {
    "close_oldest@clerk#1": ("pass", []),
    "close_oldest@eager#1": ("wrong_answer", ["confirmation_skipped"]),
    "keep_oldest@clerk#1": ("pass", []),
    "keep_oldest@eager#1": ("wrong_answer", ["confirmation_refused"]),
    "label_for_customer@clerk#1": ("pass", []),
    "label_for_customer@eager#1": ("wrong_answer", []),
    "close_with_elicit@clerk#1": ("pass", []),
    "close_with_elicit@eager#1": ("pass", ["confirmation_skipped"]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_trial(talks: dict[str, TrialRecord], name: str) -> None:
    record = talks[name]
    assert (outcome(record), [violation.kind for violation in record.violations]) == EXPECTED[name], record.trouble


def test_a_user_ends_when_it_has_what_it_wants_or_gives_up(talks: dict[str, TrialRecord]) -> None:
    served, unserved = (talks[f"label_for_customer@{name}#1"].user for name in ("clerk", "eager"))
    assert served is not None and unserved is not None
    assert (served.ended, unserved.ended) == ("state", "says")
    assert unserved.closing == "I do not see the label anywhere. Goodbye."
