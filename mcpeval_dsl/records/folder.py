"""Records: the folder of one run, who may write in it, and which run is the latest.

`.mcpe/runs/RUN/` (mode 0700) holds plan.json, manifest.json, ledger.db and the file that a runner locks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

RUNS = Path(".mcpe") / "runs"
PLAN, MANIFEST, LEDGER, LOCK = "plan.json", "manifest.json", "ledger.db", "runner.lock"
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class StoreError(OSError):
    """The disk did not take or give what a run needs: the command ends with exit code 74. `errno` is the cause."""

    def __init__(self, message: str, code: int = errno.EIO) -> None:
        super().__init__(code, message)
        self.message = message

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path

    @property
    def plan(self) -> Path:
        return self.path / PLAN

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST

    @property
    def ledger(self) -> Path:
        return self.path / LEDGER

    @property
    def exists(self) -> bool:
        try:
            return self.manifest.is_file() and self.ledger.is_file()
        except OSError:  # a name that is too long for any file
            return False

    def make(self) -> None:
        """Creates the folder, open to its owner only. Raises StoreError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
        except OSError as error:
            raise StoreError(f"cannot create the run folder {self.path}: {error.strerror}", error.errno or 5) from error


class RunnerLock:
    """Held by the one process that writes in a run folder; released by the kernel however that process ends."""

    def __init__(self, folder: RunFolder) -> None:
        self._path = folder.path / LOCK
        self._file: int | None = None

    def take(self, patience: float = 0.0) -> bool:
        """False when another runner holds it for longer than `patience` seconds. Raises StoreError."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot open {self._path}: {error.strerror}", error.errno or 5) from error
        give_up = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    os.close(file)
                    return False
                time.sleep(0.05)
            else:
                self._file = file
                return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file so that it has either its old or its new bytes, also after a power cut. Raises StoreError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}", error.errno or 5) from error


def runs(root: Path) -> list[RunFolder]:
    """Runs of the project at `root`, latest first by the time of their last write."""
    base = root / RUNS
    try:
        found = [RunFolder(path) for path in base.iterdir() if stat.S_ISDIR(path.lstat().st_mode)]
    except FileNotFoundError:
        return []
    return sorted((run for run in found if run.exists), key=lambda run: (-last_written(run), run.path.name))


def find(root: Path, name: str | None) -> RunFolder | None:
    """The run called `name` (a name under `.mcpe/runs`, the start of one, or a path); the latest for None."""
    if name is None:
        return next(iter(runs(root)), None)
    direct = RunFolder(Path(name) if os.sep in name else root / RUNS / name)
    if direct.exists:
        return direct
    if not SAFE_NAME.fullmatch(name):
        return None
    matching = [run for run in runs(root) if run.path.name.startswith(name)]
    return matching[0] if len(matching) == 1 else None


def last_written(run: RunFolder) -> float:
    """Seconds since the epoch."""
    newest = run.manifest.stat().st_mtime
    for name in (LEDGER, f"{LEDGER}-wal"):
        with contextlib.suppress(FileNotFoundError):
            newest = max(newest, (run.path / name).stat().st_mtime)
    return newest
