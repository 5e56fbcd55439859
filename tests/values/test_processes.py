"""A command that leaves something behind which holds its output open."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path

from mcpeval_dsl.values.processes import run_command

CODE = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3)\n    os._exit(0)"


def test_it_is_over_in_its_time_and_leaves_nothing_open(tmp_path: Path) -> None:
    ran = asyncio.run(run_command([sys.executable, "-c", CODE], tmp_path, {"PATH": "/usr/bin:/bin"}, 0.5, 1000))
    assert ran.timed_out
    gc.collect()  # a pipe that is open still would be told here, after its loop has ended
