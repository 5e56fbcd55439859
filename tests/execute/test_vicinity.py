"""The files of the specs are watched while agents act; what this program writes there itself is nobody's doing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, pathlib, sys
from mcpeval_dsl.execute.vicinity import Vicinity
async def main():
    vicinity = Vicinity(pathlib.Path.cwd())
    await vicinity.begin()
    print("1/2 trials", file=sys.stderr, flush=True)
    if sys.argv[1:]:
        pathlib.Path(sys.argv[1]).write_text("planted")
    print("\\n".join(await vicinity.changed()))
asyncio.run(main())
"""


def said(folder: Path, *written: str) -> str:
    with (folder / "log.txt").open("w") as log:
        command = [sys.executable, "-c", SCRIPT, *written]
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, check=True, timeout=60
        )
    assert "1/2 trials" in (folder / "log.txt").read_text()
    return done.stdout.strip()


def test_the_log_of_the_run_itself_is_no_change(tmp_path: Path) -> None:
    assert said(tmp_path) == ""


def test_another_file_is(tmp_path: Path) -> None:
    assert "notes.txt" in said(tmp_path, "notes.txt")
