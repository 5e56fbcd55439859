"""Processes of a trial that are not MCP servers: commands run to completion, and background ones that stay.

Every process gets its own session, so that its whole group can be ended. What left its group and its parent is still
known by the trial's own TMPDIR among its variables; `sweep` ends it where the system shows variables (`/proc`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from mcpeval_dsl.values.limits import set_limits
from mcpeval_dsl.values.processes import Ran, Wrap

PROC = Path("/proc")
TAIL = 4000
GRACE_SECONDS = 1.0
SWEEPS = 5
MARK = f"/mcpe-{os.getuid()}/".encode()
"""What the folders of all trials have in their path (`folders.place`)."""
SETTLED_SECONDS = 5.0


def failure_of(ran: Ran, argv: Sequence[str]) -> str | None:
    """Why a command that should end well did not, in one line; None when it did."""
    if ran.problem:
        return ran.problem
    if ran.exit == 0:
        return None
    tail = (ran.stderr.strip() or ran.stdout.strip())[-400:]
    return f"`{' '.join(argv)}` ended with exit code {ran.exit}" + (f": {tail}" if tail else "")


def end_group(pid: int, hard: bool) -> None:
    """Signal a whole process group; a group that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL if hard else signal.SIGTERM)


def sweep(mark: str) -> int:
    """Kill every process of this user that has the text `mark` among its variables; how many there were.

    In rounds, since what is about to be killed may start another. Where there is no `/proc` nothing is found.
    """
    ended = 0
    for _ in range(SWEEPS):
        found = [pid for pid in _candidates() if _carries(pid, mark.encode())]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended += len(found)
        if not found:
            break
    return ended


_seen: dict[int, tuple[int, float]] = {}
"""When a process was first looked at, by pid, with what tells it from a later one of the same number."""
_strangers: dict[int, int] = {}
"""Processes that were still nobody's trial's when they were surely past their start: they are not read again."""


def _candidates() -> list[int]:
    """Processes of this user that may belong to a trial."""
    found: list[int] = []
    alive: set[int] = set()
    now, own, user = time.monotonic(), os.getpid(), os.getuid()
    with contextlib.suppress(OSError), os.scandir(PROC) as entries:
        for entry in entries:
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                status, pid = entry.stat(), int(entry.name)
                alive.add(pid)
                if status.st_uid != user or pid == own or _strangers.get(pid) == status.st_ctime_ns:
                    continue
                if _seen.get(pid, (0, now))[0] != status.st_ctime_ns:
                    _seen[pid] = (status.st_ctime_ns, now)
                found.append(pid)
    _forget_all_but(alive)
    return found


def _forget_all_but(alive: set[int]) -> None:
    """What is known of processes that have ended would grow for as long as a run lasts."""
    for known in (_seen, _strangers):
        if len(known) > 2 * len(alive):
            for pid in known.keys() - alive:
                del known[pid]


def _carries(pid: int, mark: bytes) -> bool:
    """A process that is dead already shows no variables."""
    with contextlib.suppress(OSError):
        variables = (PROC / str(pid) / "environ").read_bytes()
        identity, since = _seen[pid]
        if MARK not in variables and time.monotonic() - since > SETTLED_SECONDS:
            _strangers[pid] = identity
        return mark in variables
    return False


class Background:
    """One process that stays for the trial. Its output goes to a file in the trial's folder.

    That file is known by its descriptor: what lies under its name may be anything by the time it is read.
    """

    def __init__(self, process: asyncio.subprocess.Process, argv: Sequence[str], log: BinaryIO) -> None:
        self._process = process
        self.argv = tuple(argv)
        self._log = log

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: int, wrap: Wrap | None = None
    ) -> Background:
        """Start it; `log` is a descriptor, closed when it has stopped. Raises OSError when it cannot be started."""
        sink = os.fdopen(log, "w+b", buffering=0)
        try:
            process = await asyncio.create_subprocess_exec(
                *(wrap(argv, env) if wrap is not None else ()),
                *argv,
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        except BaseException:
            sink.close()
            raise
        set_limits((process.pid,))
        return cls(process, argv, sink)

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    def tail(self) -> str:
        """The end of what it printed."""
        with contextlib.suppress(OSError):
            size = os.fstat(self._log.fileno()).st_size
            return os.pread(self._log.fileno(), TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
        return ""

    async def stop(self) -> None:
        """TERM, a moment, KILL: to the whole group."""
        if self._process.returncode is None:
            end_group(self._process.pid, hard=False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await self._process.wait()
        end_group(self._process.pid, hard=True)
        await self._process.wait()
        self._log.close()
