"""The sweep of what trials leave behind keeps nothing of processes that have ended."""

from __future__ import annotations

import os
import subprocess
import sys

from mcpeval_dsl.execute import processes


def test_processes_that_have_ended_are_forgotten() -> None:
    gone = dict.fromkeys(range(10_000_000, 10_010_000), (1, 0.0))
    processes._seen |= gone
    processes._strangers |= dict.fromkeys(gone, 1)
    processes.sweep("/nobodys-trial")
    assert not gone.keys() & processes._seen.keys() and not gone.keys() & processes._strangers.keys()


def test_what_lives_and_carries_the_mark_is_ended() -> None:
    mark = f"/mcpe-{os.getuid()}/sweeping-{os.getpid()}"
    words = [sys.executable, "-S", "-c", "import time; print(1, flush=True); time.sleep(60)"]
    with subprocess.Popen(words, env={"TMPDIR": mark}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline()
        assert processes.sweep(mark) >= 1
        assert process.wait(timeout=10) == -9
    assert processes.sweep(mark) == 0
