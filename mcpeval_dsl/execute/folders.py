"""Where a trial lives: its own folder with a work directory, a HOME and a place for temporary files.

The path has the same length in every run, so that texts that hold it (and what they cost) do not differ by run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.execute.processes import sweep

FOLDER_MARK = "{{ trial folder }}"


@dataclass(frozen=True, slots=True)
class TrialFolder:
    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @property
    def logs(self) -> Path:
        return self.root / "logs"


def place(run_folder: Path, owner: str) -> TrialFolder:
    """Where the folder of an owner is, or would be."""
    digest = hashlib.sha256(f"{run_folder.resolve()}\x00{owner}".encode()).hexdigest()[:16]
    return TrialFolder(Path(tempfile.gettempdir()) / f"mcpe-{os.getuid()}" / digest)


def create(run_folder: Path, owner: str) -> TrialFolder:
    """A fresh, private folder for one owner (a trial or a harvest) of one run; leftovers of an earlier attempt go."""
    folder = place(run_folder, owner)
    root, base = folder.root, folder.root.parent
    base.mkdir(mode=0o700, exist_ok=True)
    if base.is_symlink() or base.stat().st_uid != os.getuid():
        raise PermissionError(f"{base} belongs to somebody else; set TMPDIR to a folder of your own")
    if root.exists():
        sweep(str(folder.temporary))
        remove(root)
    for part in (root, folder.work, folder.home, folder.temporary, folder.logs):
        part.mkdir(mode=0o700)
    return folder


def remove(root: Path) -> None:
    """Delete a trial's folder, read-only parts too."""

    def unlock(function: object, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            if Path(path).is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                Path(path).unlink()

    if not root.exists():
        return
    if sys.version_info >= (3, 12):
        shutil.rmtree(root, onexc=unlock)
    else:
        shutil.rmtree(root, onerror=unlock)


def mask(value: object, folder: TrialFolder) -> object:
    """The same value with the trial's own folder written as a mark."""
    return relocate(value, str(folder.root), FOLDER_MARK)


def unmask(value: object, folder: TrialFolder) -> object:
    """The reverse of `mask`, for another trial."""
    return relocate(value, FOLDER_MARK, str(folder.root))


def relocate(value: object, old: str, new: str) -> object:
    """The same value with one text in it (keys too) written as another."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [relocate(item, old, new) for item in value]
    if isinstance(value, dict):
        return {relocate(key, old, new): relocate(item, old, new) for key, item in value.items()}
    return value
