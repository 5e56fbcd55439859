"""Process groups of stdio servers: who belongs to one, and ending all of them whatever happened to the leader.

Place in the pipeline: below the stdio transport. On systems without `/proc` only the process group is known.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for a later one with the same number: `started` is its start in clock ticks."""

    pid: int
    started: int


def descendants(pid: int) -> frozenset[Process]:
    """Every living descendant of a process, also those that left its group or session."""
    found: set[Process] = set()
    waiting = [pid]
    while waiting:
        for child in _children(waiting.pop()):
            started = _started(child)
            if started is not None:
                found.add(Process(child, started))
                waiting.append(child)
    return frozenset(found)


def end_group(leader: int, known: frozenset[Process], number: signal.Signals) -> None:
    """Signal the leader's group, and each known descendant that is still the same process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for process in known:
        if _started(process.pid) == process.started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError, ValueError):
                found.extend(int(word) for word in (task / "children").read_text().split())
    return found


def _started(pid: int) -> int | None:
    try:
        text = (PROC / str(pid) / "stat").read_text()
        # The command's name stands in parentheses and may hold anything, so fields are counted from its end.
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
