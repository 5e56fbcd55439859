"""The project beside a trial: whether the files of the specs changed while its agent acted.

Without a sandbox a server can write there. Others may as well (a trial beside this one, the operator with an editor), and
nothing tells who it was: a change is said, and accuses nobody.
"""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.execute.snapshots import OWN_FOLDERS, Place, Snapshot, TooLarge, differences, snapshot

MOST_FILES = 2_000
"""Looked at twice in each trial, by size and times: some 10 ms for so many."""

SHOWN = 3
SKIPPED = OWN_FOLDERS | {".git", ".mcpe", "node_modules", ".venv", "venv"}


@dataclass(slots=True)
class Vicinity:
    """`folder` is that of the specs; None where a sandbox keeps every server out of it."""

    folder: Path | None
    _before: Snapshot | None = None

    async def begin(self) -> None:
        self._before = await self._look()

    async def changed(self) -> tuple[str, ...]:
        """What differs since `begin`, in a sentence; none where nothing does or it could not be compared."""
        if self._before is None:
            return ()
        now = await self._look()
        if now is None:
            return ()
        own = _own_output(now)
        changes = [change for change in differences(self._before, now) if change.path not in own]
        if not changes:
            return ()
        more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        words = "; ".join(change.words for change in changes[:SHOWN])
        return (f"beside the specs, while the agent acted: {words}{more} (nothing tells who did it)",)

    async def _look(self) -> Snapshot | None:
        if self.folder is None:
            return None
        try:
            return await asyncio.to_thread(snapshot, Place(self.folder, skip=SKIPPED), read=False, most=MOST_FILES)
        except (TooLarge, OSError):
            return None


def _own_output(now: Snapshot) -> frozenset[str]:
    """Files that this program itself writes to: `mcpe run > run.txt 2> log.txt`."""
    numbers = set()
    for stream in (1, 2):
        try:
            status = os.fstat(stream)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            numbers.add(status.st_ino)
    if not numbers:
        return frozenset()
    return frozenset(path for path, entry in now.entries.items() if entry.stamp[0][0] in numbers)
