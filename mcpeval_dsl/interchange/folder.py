"""Interchange, last step: spec, files and report are written whole, or nothing is; what is there already is not touched."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path


def standing(folder: Path, names: Mapping[str, bytes]) -> list[str]:
    """Names that are taken already."""
    return [name for name in names if os.path.lexists(folder / name)]


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """All files, each under another name first; renamed when all are there. Raises OSError, and leaves nothing then."""
    made: list[tuple[Path, Path]] = []
    try:
        for name, data in files.items():
            target = folder / name
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name[:200]}.{os.getpid()}")
            made.append((beside, target))
            beside.write_bytes(data)
        for beside, target in made:
            beside.replace(target)
    except OSError:
        for beside, _ in made:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
        raise
