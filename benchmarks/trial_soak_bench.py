"""What whole trials leave behind in the process that runs them: 1,000 one after the other, 600 cut off at a random moment.

Run: `python benchmarks/trial_soak_bench.py [TRIALS [CUT]]`. Every trial is one of `mcpe run`: folder, set-up, server, session,
two calls, evidence, grading, ledger. Those that are cut off are run again to their end, as a run does that goes on. It ends
with an error where a process, a descriptor, a folder or more memory than allowed is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import heading
from soak_bench import state
from trial_bench import SCRIPT, SERVER, SPEC

from mcpeval_dsl.cli.main import main as mcpe
from mcpeval_dsl.execute import scheduler

ROUNDS = 4
"""The trials are those of so many runs. Memory is compared from the end of the second to that of the last: what is free for the
next trial stays with the process, and finds its level in the first ones."""
GROWTH_LIMIT = 4.0
"""MB of resident memory that the second half may add."""


def folders(place: Path) -> int:
    """Folders of trials that stand."""
    return sum(1 for base in place.glob("mcpe-*") if base.is_dir() for _ in base.iterdir())


def run(project: Path, trials: int, jobs: int) -> None:
    """One run of so many trials, from nothing."""
    (project / "specs" / "bench.mcpe").write_text(SPEC.format(trials=trials), encoding="utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = mcpe(["run", "specs", "--fresh", "--jobs", str(jobs)])
    if code != 0:
        raise SystemExit(said.getvalue())


def rounds(name: str, project: Path, place: Path, count: int, jobs: int) -> bool:
    started, seen = time.monotonic(), []
    for _ in range(ROUNDS):
        run(project, count // ROUNDS, jobs)
        seen.append(state())
    before, after, took = seen[ROUNDS // 2 - 1], seen[-1], time.monotonic() - started
    processes, descriptors, memory = (late - early for early, late in zip(before, after, strict=True))
    left = folders(place)
    good = processes <= 0 and descriptors <= 0 and memory <= GROWTH_LIMIT and left == 0
    mark = "" if good else "   ABOVE ITS LIMIT"
    print(
        f"  {name:38} processes {processes:+d}, descriptors {descriptors:+d}, folders {left}, {memory:+.1f} MB"
        f" in the second half; {took:.0f} s{mark}"
    )
    return good


@contextlib.contextmanager
def cutting() -> Any:
    """Every trial is first begun and cancelled, at a moment of chance, then run."""
    whole, chance = scheduler.run_trial, random.Random(7)

    async def twice(*arguments: Any) -> Any:
        begun = asyncio.create_task(whole(*arguments))
        await asyncio.wait({begun}, timeout=chance.uniform(0.0, 0.4))
        if not begun.done():
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)
        elif begun.exception() is None:
            begun.result().remove()
        return await whole(*arguments)

    scheduler.run_trial = twice
    try:
        yield
    finally:
        scheduler.run_trial = whole


def main() -> int:
    heading(__file__)
    words = [int(word) for word in sys.argv[1:]]
    trials, cut = (*words, *(1_000, 600)[len(words) :])
    with tempfile.TemporaryDirectory(prefix="soak-") as name, contextlib.chdir(name):
        place = Path(name) / "tmp"
        place.mkdir()
        os.environ |= {"MCPE_STATE_DIR": f"{name}/state", "TMPDIR": str(place)}
        tempfile.tempdir = str(place)
        project = Path(name) / "project"
        (project / "specs").mkdir(parents=True)
        os.chdir(project)
        (project / "mcpe.toml").write_text('specs = ["specs"]\n', encoding="utf-8")
        (project / "specs" / "script.yaml").write_text(SCRIPT, encoding="utf-8")
        (project / "specs" / "server.py").write_text(SERVER, encoding="utf-8")
        (project / "specs" / "bench.mcpe").write_text(SPEC.format(trials=1), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            mcpe(["trust", "specs", "--yes"])
        good = rounds(f"{trials} trials, one after the other", project, place, trials, 1)
        with cutting():
            good = rounds(f"{cut} trials, cut off at any moment", project, place, cut, 4) and good
        tempfile.tempdir = None
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
