"""A process that outlives this one by a moment: when this one dies, however it dies, it ends what its trials left running.

It is told of folders of trials as they come and go, over a pipe that only this process holds. The end of the pipe is the
sign; then every process that has one of those folders as its TMPDIR is killed. The file is also the watchdog's own program,
started with `python -I -S`, so it imports nothing of the project.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROC = "/proc"
ROUNDS = 20
PAUSE = 0.05
_watching: subprocess.Popen[bytes] | None = None


def watch(folder: Path) -> None:
    """From now on processes of the trial in `folder` do not outlive this one. Starts the watchdog when first called.

    Where the system does not show variables of processes (no `/proc`) there is none: servers then end with their input.
    """
    global _watching
    if not Path(PROC, "self", "environ").exists():
        return
    if _watching is None or _watching.poll() is not None:
        with contextlib.suppress(OSError):
            _watching = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            atexit.unregister(_end)
            atexit.register(_end)
    _tell(f"+{folder}")


def forget(folder: Path) -> None:
    """The trial in `folder` has ended and left nothing."""
    _tell(f"-{folder}")


def _tell(line: str) -> None:
    if _watching is not None and _watching.stdin is not None:
        with contextlib.suppress(OSError):
            _watching.stdin.write(os.fsencode(line) + b"\n")
            _watching.stdin.flush()


def _end() -> None:
    """An ordinary end: the watchdog sweeps what is left, if anything is, and is gone before this process."""
    global _watching
    watching, _watching = _watching, None
    if watching is not None and watching.stdin is not None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            watching.stdin.close()
            watching.wait(timeout=ROUNDS * PAUSE + 1)


def kill(marks: set[bytes]) -> int:
    """Kill every process of this user whose TMPDIR is one of `marks`; how many there were."""
    wanted = {b"TMPDIR=" + mark for mark in marks}
    ended = 0
    try:
        names = os.listdir(PROC)  # noqa: PTH208  # pathlib would cost half of the start
    except OSError:
        return 0
    for name in names:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"{PROC}/{name}/environ", "rb") as stream:  # noqa: PTH123
                variables = stream.read()
            if not wanted.isdisjoint(variables.split(b"\0")):
                os.kill(int(name), signal.SIGKILL)
                ended += 1
    return ended


def main() -> None:
    """Until the pipe ends: folders that came and went. Then rounds until nothing is found twice."""
    living: set[bytes] = set()
    for line in sys.stdin.buffer:
        mark = line.rstrip(b"\n")[1:] + b"/tmp"
        if line.startswith(b"+"):
            living.add(mark)
        else:
            living.discard(mark)
    quiet = 0
    for _ in range(ROUNDS if living else 0):
        quiet = 0 if kill(living) else quiet + 1
        if quiet == 2:
            break
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
