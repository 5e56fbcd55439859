"""Systems that show no processes under `/proc`: nothing is found, nothing breaks, and the process group still ends."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from mcpeval_dsl.execute import processes, watchdog
from mcpeval_dsl.gateway import processes as families


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "none"
    monkeypatch.setattr(processes, "PROC", place)
    monkeypatch.setattr(watchdog, "PROC", str(place))
    monkeypatch.setattr(families, "PROC", place)
    return place


def test_a_sweep_finds_nothing(nowhere: Path) -> None:
    assert processes.sweep(str(Path.cwd())) == 0
    assert watchdog.kill({b"/"}) == 0


def test_no_watchdog_is_started(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_watching", None)
    watchdog.watch(tmp_path)
    watchdog.forget(tmp_path)
    assert watchdog._watching is None


def test_a_process_group_still_ends(nowhere: Path) -> None:
    words = ["sh", "-c", "sleep 600 & echo started; wait"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout is not None and child.stdout.readline() == b"started\n"
        known = families.descendants(child.pid)
        assert known == frozenset()
        families.end_group(child.pid, known, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        assert child.stdout.read() == b"", "which ends when nobody of the group holds it any more"


def test_a_process_that_ended_while_it_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "4711").mkdir()
    monkeypatch.setattr(processes, "PROC", tmp_path)
    monkeypatch.setattr(watchdog, "PROC", str(tmp_path))
    assert processes.sweep("anything") == 0
    assert watchdog.kill({b"anything"}) == 0
