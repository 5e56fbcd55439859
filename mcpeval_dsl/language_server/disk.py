"""Language server, its only way to files: open buffers first, then regular files of the project that end.

A workspace may come from anywhere and nobody has said yet that it is to be believed: a pipe or device is not opened, a
link that leads out of the project is not followed, and nothing is read without an end.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from mcpeval_dsl.values.regular import regular_bytes

MOST_BYTES = 16_000_000
MOST_ENTRIES = 20_000
MOST_SPECS = 2_000
MOST_LISTED = 1_000
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build"})

Stamp = tuple[int, int, int]


@dataclass(slots=True)
class Overlay:
    """Reads by paths relative to `root`; `buffers` are texts of open files by absolute path.

    `read_texts` are kept, and `stamps` of all on disk that was asked for, as it was then.
    """

    root: str
    buffers: Mapping[str, str]
    read_texts: dict[str, bytes] = field(default_factory=dict)
    stamps: dict[str, Stamp | None] = field(default_factory=dict)

    def full(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.root, path))  # noqa: PTH118  # as text: it may be no path at all

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises OSError for what is not a regular file of the project, or too large."""
        full = self.full(path)
        text = self.buffers.get(full)
        if text is not None:
            data = text.encode("utf-8", "surrogatepass")
        else:
            self.stamps[path] = stamp(full)
            self._inside(full)
            data = regular_bytes(Path(full), MOST_BYTES)
        self.read_texts[path] = data
        return data

    def exists(self, path: str) -> bool:
        full = self.full(path)
        if full in self.buffers:
            return True
        found = self.stamps[path] = stamp(full)
        return found is not None

    def entries(self, folder: str) -> list[str]:
        """What is in a folder of the project, folders with a `/` behind their name; hidden ones and links are left out."""
        full = self.full(folder)
        try:
            self._inside(full)
            with os.scandir(full) as listed:
                shown = (e for e in islice(listed, MOST_LISTED) if not e.name.startswith(".") and not e.is_symlink())
                return sorted(f"{e.name}/" if e.is_dir(follow_symlinks=False) else e.name for e in shown)
        except (OSError, ValueError):
            return []

    def _inside(self, full: str) -> None:
        try:
            real, root = os.path.realpath(full), os.path.realpath(self.root)
        except ValueError:
            raise FileNotFoundError(errno.ENOENT, "no file can have this name") from None
        if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
            raise OSError(errno.EPERM, "it is a link that leads out of the project")


def specs_below(root: str) -> list[str]:
    """Paths of the `.mcpe` files below a folder, relative to it, with `/`; of a very large folder only the first ones.

    Links to folders are not followed, and folders that hold no sources are passed over.
    """
    found: list[str] = []
    seen = 0
    for where, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        seen += len(folders) + len(names)
        for name in sorted(names):
            if name.endswith(".mcpe"):
                found.append(Path(os.path.relpath(os.path.join(where, name), root)).as_posix())  # noqa: PTH118
        if seen > MOST_ENTRIES or len(found) >= MOST_SPECS:
            break
    return found[:MOST_SPECS]


def stamp(path: str) -> Stamp | None:
    """What changes when a file does: time, size and number; None where there is no file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
